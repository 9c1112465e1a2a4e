import type { FreshDatabase } from '../../test/support/database.ts';
import { forgetWrites } from './data.ts';
import { bytesOf } from './load.ts';
import { type Figures, medians, metered } from './metered.ts';
import { askOf, isWrite, type Shape } from './shapes.ts';
import type { Side, Sides } from './sides.ts';

export interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly scale: number;
}

/** Medians over the rounds. */
export type FiguresBySide = Readonly<Record<Side['name'], Figures>>;

/** Bodies larger than this are made once: their making must not be what is measured. */
const LARGE = 10_000;
/** Requests of a shape so far, over all its rounds: a change that changes nothing would be no change. */
const counts = new Map<Shape, number>();

/** Measures shapes in turn, side after side, so that what disturbs one disturbs all. */
export async function measure(
  shapes: readonly Shape[],
  { service, ideal }: Pick<Sides, 'service' | 'ideal'>,
  options: Options,
  database: FreshDatabase,
): Promise<ReadonlyMap<Shape, FiguresBySide>> {
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
  try {
    return await metered(side, requests(side, shape, scale), { connections, seconds }, database);
  } catch (error) {
    throw new Error(`"${shape.name}" by the ${side.name} server: ${(error as Error).message}`, { cause: error });
  } finally {
    if (isWrite(shape)) await forgetWrites(database);
  }
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
