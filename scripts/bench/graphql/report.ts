import { type LoadFigures, median, medians } from '../load-figures.ts';
import type { GraphqlContenderName } from './contenders.ts';
import type { GraphqlBenchScenario } from './graphql-bench-scenarios.ts';
import type { FiguresByContender } from './rounds.ts';

/**
 * Aims for lists: the smallest allowed ratio of requests per second of the service's GraphQL to those of another contender. Reads
 * of a row or a few are mostly HTTP and have no aim, and neither has SEARCH, whose request has a body as well.
 */
const AIMS: readonly (readonly [of: GraphqlContenderName, atLeast: number])[] = [
  ['PostGraphile', 1.5],
  ['REST, GET', 0.75],
];

export const GRAPHQL_BENCH_TABLE_HEADER = `${'shape'.padEnd(15)}${'asked by'.padEnd(14)}  requests/s   CPU ms/request   server   database`;

/** Renders one table line per contender, with medians over the rounds. */
export const renderGraphqlBenchTableLines = (
  { name: shape }: GraphqlBenchScenario,
  measured: FiguresByContender,
): readonly string[] =>
  [...measured].map(([name, figures], at) => {
    const { perSecond, cpu, serverCpu } = medians(figures);
    return [
      (at === 0 ? shape : '').padEnd(15),
      name.padEnd(14),
      perSecond.toFixed(0).padStart(12),
      cpu.toFixed(3).padStart(17),
      serverCpu.toFixed(3).padStart(9),
      (cpu - serverCpu).toFixed(3).padStart(11),
    ].join('');
  });

export interface GraphqlVerdict {
  readonly line: string;
  readonly missed: boolean;
}

/**
 * Compares GraphQL with each other contender: in both ratios more than 1 is in favour of GraphQL. The aims are of requests per
 * second.
 */
export function judgeGraphqlBenchScenario(
  shape: GraphqlBenchScenario,
  measured: FiguresByContender,
): readonly GraphqlVerdict[] {
  const ours = measured.get('GraphQL');
  return [...measured].flatMap(([name, other]) =>
    ours && name !== 'GraphQL' ? [verdict(shape, name, ours, other)] : [],
  );
}

function verdict(
  { name: shape, table }: GraphqlBenchScenario,
  name: GraphqlContenderName,
  ours: readonly LoadFigures[],
  other: readonly LoadFigures[],
): GraphqlVerdict {
  const aim = table === undefined ? AIMS.find(([of]) => of === name)?.[1] : undefined;
  // Ratios are taken within a round, whose loads followed each other, so that the machine was the same for both.
  const ratio = (of: (ours: LoadFigures, other: LoadFigures) => number) =>
    median(ours.map((one, round) => of(one, other[round] as LoadFigures)));
  const perSecond = ratio((a, b) => a.perSecond / b.perSecond);
  const cpu = ratio((a, b) => b.cpu / a.cpu);
  const missed = aim !== undefined && perSecond < aim;
  const judged = aim === undefined ? '' : `at least ${aim.toFixed(2)}   ${missed ? 'MISSED' : 'met'}`;
  const figures = `requests/s ${perSecond.toFixed(2).padStart(5)}   CPU ${cpu.toFixed(2).padStart(5)}`;
  return { line: `${shape.padEnd(15)}${`GraphQL : ${name}`.padEnd(26)}${figures}   ${judged}`.trimEnd(), missed };
}
