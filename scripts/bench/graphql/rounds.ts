import type { FreshDatabase } from '../../../test/support/database.ts';
import { benchRowKeyOf } from '../bench-scenarios.ts';
import { buildRequestBytes } from '../http-load-generator.ts';
import { type LoadFigures, measureLoad } from '../load-figures.ts';
import type { BenchOptions } from '../rounds.ts';
import type { GraphqlContender, GraphqlContenderName } from './contenders.ts';
import type { GraphqlBenchScenario } from './graphql-bench-scenarios.ts';

/** The figures of each contender, one entry per round. */
export type FiguresByContender = ReadonlyMap<GraphqlContenderName, readonly LoadFigures[]>;

/** Seconds until the slowest contender becomes no faster: its code is compiled while it runs. */
const WARM_UP_SECONDS = 5;

/** Measures a shape, contender after contender and round after round, so that other load on the machine affects all. */
export async function measureGraphqlBenchScenario(
  shape: GraphqlBenchScenario,
  contenders: readonly GraphqlContender[],
  { rounds, seconds, connections, scale }: BenchOptions,
  database: FreshDatabase,
): Promise<FiguresByContender> {
  const taken = new Map<GraphqlContenderName, LoadFigures[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const next = requests(contender, shape, scale);
      const during = { connections, seconds: round === 0 ? WARM_UP_SECONDS : seconds };
      const figures = await measureLoad(contender.target, next, during, database);
      if (round > 0) taken.get(contender.name)?.push(figures);
    }
  }
  return taken;
}

function requests(
  { target, headers, ask }: GraphqlContender,
  shape: GraphqlBenchScenario,
  scale: number,
): () => Buffer {
  const { table } = shape;
  if (!table) {
    const only = buildRequestBytes(target.url, headers, ask(shape, 0));
    return () => only;
  }
  let n = 0;
  return () => buildRequestBytes(target.url, headers, ask(shape, benchRowKeyOf(table, n++, scale)));
}
