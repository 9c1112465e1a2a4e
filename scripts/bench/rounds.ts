import type { FreshDatabase } from '../../test/support/database.ts';
import { forgetWrites } from './data.ts';
import { bytesOf, load } from './load.ts';
import { cpuByProcess, processesOf } from './processes.ts';
import { askOf, isWrite, type Shape } from './shapes.ts';
import type { Side, Sides } from './sides.ts';

export interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly scale: number;
}

/** Medians over the rounds. CPU in ms a request, of the server process and its database backends together. */
export interface Figures {
  readonly perSecond: number;
  readonly cpu: number;
  /** The part of it that the server process used. */
  readonly serverCpu: number;
}

export type Measured = Readonly<Record<Side['name'], Figures>>;

/** Bodies larger than this are made once: their making must not be what is measured. */
const LARGE = 10_000;
/** Requests of a shape so far, over all its rounds: a change that changes nothing would be no change. */
const counts = new Map<Shape, number>();

/** Measures shapes in turn, side after side, so that what disturbs one disturbs all. */
export async function measure(
  shapes: readonly Shape[],
  { service, ideal }: Sides,
  options: Options,
  database: FreshDatabase,
): Promise<ReadonlyMap<Shape, Measured>> {
  const all = new Map(shapes.map((shape) => [shape, { service: [] as Figures[], ideal: [] as Figures[] }]));
  for (let round = 0; round <= options.rounds; round++) {
    // The first warms up.
    const seconds = round === 0 ? 1 : options.seconds;
    for (const [shape, taken] of all) {
      for (const side of round % 2 === 0 ? [service, ideal] : [ideal, service]) {
        const figures = await oneRound(side, shape, seconds, options, database);
        if (round > 0) taken[side.name].push(figures);
      }
    }
  }
  return new Map(
    [...all].map(([shape, taken]) => [shape, { service: medians(taken.service), ideal: medians(taken.ideal) }]),
  );
}

async function oneRound(
  side: Side,
  shape: Shape,
  seconds: number,
  { connections, scale }: Options,
  database: FreshDatabase,
): Promise<Figures> {
  const usage = async () => {
    const { server, backends } = await processesOf(side.pid, side.application, database);
    return { server, cpu: cpuByProcess([server, ...backends]) };
  };
  const next = requests(side, shape, scale);
  const before = await usage();
  const { requests: made, failed, seconds: took } = await load(side.url, next, connections, seconds);
  const after = await usage();
  if (isWrite(shape)) await forgetWrites(database);
  if (failed > 0) throw new Error(`${failed} of ${made} requests of "${shape.name}" to the ${side.name} server failed`);
  const used = (pid: number) => (after.cpu.get(pid) ?? 0) - (before.cpu.get(pid) ?? 0);
  const cpu = [...after.cpu.keys()].reduce((sum, pid) => sum + used(pid), 0);
  return { perSecond: made / took, cpu: cpu / made, serverCpu: used(after.server) / made };
}

function requests(side: Side, shape: Shape, scale: number): () => Buffer {
  const headers = side.headers(shape);
  const make = () => {
    const n = counts.get(shape) ?? 1;
    counts.set(shape, n + 1);
    return bytesOf(side.url, headers, askOf(shape, n, scale));
  };
  const first = make();
  const varies = shape.table !== undefined || isWrite(shape);
  return varies && first.length < LARGE ? make : () => first;
}

const medians = (figures: readonly Figures[]): Figures => ({
  perSecond: median(figures.map((one) => one.perSecond)),
  cpu: median(figures.map((one) => one.cpu)),
  serverCpu: median(figures.map((one) => one.serverCpu)),
});

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
