import type { FreshDatabase } from '../../test/support/database.ts';
import { type BenchScenario, buildBenchRequest, isWriteBenchScenario } from './bench-scenarios.ts';
import type { BenchServer, BenchServers } from './compared-servers.ts';
import { deleteBenchWrites } from './data.ts';
import { buildRequestBytes } from './http-load-generator.ts';
import { type LoadFigures, measureLoad, medians } from './load-figures.ts';

export interface BenchOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly scale: number;
}

/** The figures of the service and of the other server, as medians over the rounds. */
export type LoadFiguresByServer = Readonly<Record<BenchServer['name'], LoadFigures>>;

/** Bytes of a request above which it is built only once, so that building it is not measured. */
const LARGE = 10_000;
/** Number of requests of each shape so far, over all rounds, so that each update writes new values. */
const counts = new Map<BenchScenario, number>();

/** Measures shapes in turn, server after server, so that other load on the machine affects all. */
export async function measureInRounds(
  shapes: readonly BenchScenario[],
  { service, ideal }: Pick<BenchServers, 'service' | 'ideal'>,
  options: BenchOptions,
  database: FreshDatabase,
): Promise<ReadonlyMap<BenchScenario, LoadFiguresByServer>> {
  const all = new Map(shapes.map((shape) => [shape, { service: [] as LoadFigures[], ideal: [] as LoadFigures[] }]));
  for (let round = 0; round <= options.rounds; round++) {
    // The first round only warms up.
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
  side: BenchServer,
  shape: BenchScenario,
  seconds: number,
  { connections, scale }: BenchOptions,
  database: FreshDatabase,
): Promise<LoadFigures> {
  try {
    return await measureLoad(side, requests(side, shape, scale), { connections, seconds }, database);
  } catch (error) {
    throw new Error(`"${shape.name}" by the ${side.name} server: ${(error as Error).message}`, { cause: error });
  } finally {
    if (isWriteBenchScenario(shape)) await deleteBenchWrites(database);
  }
}

function requests(side: BenchServer, shape: BenchScenario, scale: number): () => Buffer {
  const headers = side.headers(shape);
  const make = () => {
    const n = counts.get(shape) ?? 1;
    counts.set(shape, n + 1);
    return buildRequestBytes(side.url, headers, buildBenchRequest(shape, n, scale));
  };
  const first = make();
  const varies = shape.table !== undefined || isWriteBenchScenario(shape);
  return varies && first.length < LARGE ? make : () => first;
}
