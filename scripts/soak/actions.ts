import type { SeededRandom } from '../../test/support/random.ts';
import { BENCH_SCENARIOS, type BenchRequest, buildBenchRequest } from '../bench/bench-scenarios.ts';

/** A request of a client and its expected statuses. */
export interface SoakAction {
  readonly name: string;
  readonly weight: number;
  readonly as: 'admin' | 'editor' | 'public';
  readonly expected: readonly number[];
  /** The client disconnects after this many milliseconds. */
  readonly abortAfter?: (random: SeededRandom) => number;
  createRequest(n: number, random: SeededRandom): BenchRequest;
}

const WEIGHTS: Readonly<Record<string, number>> = {
  'read one': 30,
  'list 25': 10,
  '10000 rows': 0.2,
  'create one': 20,
  'update one': 20,
  'create 1000': 0.3,
};

/** Every shape of the bench, most of them with the same weight. */
const listShapeActions = (scale: number): readonly SoakAction[] =>
  BENCH_SCENARIOS.map((shape) => ({
    name: shape.name,
    weight: WEIGHTS[shape.name] ?? 3,
    as: shape.as ?? 'admin',
    expected: [200],
    createRequest: (n) => buildBenchRequest(shape, n, scale),
  }));

const get = (path: string): BenchRequest => ({ method: 'GET', path });
const pickRow = (random: SeededRandom, rows: number): number => 1 + random.upTo(rows);

/**
 * The mix: reads of all kinds, writes, batches, callers without permission, invalid queries and payloads, and clients
 * that disconnect. Most created rows are deleted later, but never the youngest, which their creators still read.
 */
export const listSoakActions = (scale: number, drafts: number): readonly SoakAction[] => [
  ...listShapeActions(scale),
  {
    name: 'update many',
    weight: 2,
    as: 'admin',
    expected: [200],
    // Keys in one order, as a careful client sends them, so that two requests cannot deadlock.
    createRequest: (n, random) => {
      const first = pickRow(random, drafts - 20);
      const keys = Array.from({ length: 20 }, (_, at) => first + at);
      return { method: 'PATCH', path: '/items/draft', body: { keys, data: { views: n % 10_000 } } };
    },
  },
  {
    name: 'delete the oldest notes',
    weight: 1,
    as: 'admin',
    expected: [204],
    createRequest: () => ({ method: 'DELETE', path: '/items/note', body: { query: { sort: ['id'], limit: 15 } } }),
  },
  {
    name: 'delete imported rows',
    weight: 0.2,
    as: 'admin',
    expected: [204],
    createRequest: () => ({ method: 'DELETE', path: '/items/import', body: { query: { sort: ['id'], limit: 1000 } } }),
  },
  {
    name: 'refused: write without permission',
    weight: 2,
    as: 'editor',
    expected: [403],
    createRequest: (n) => ({ method: 'PATCH', path: '/items/article/1', body: { views: n % 10_000 } }),
  },
  {
    name: 'refused: row outside the rule',
    weight: 2,
    as: 'editor',
    expected: [200, 403],
    createRequest: (_n, random) => get(`/items/article/${pickRow(random, 100)}`),
  },
  {
    name: 'refused: without a token',
    weight: 2,
    as: 'public',
    expected: [403],
    createRequest: () => get('/items/article?limit=5'),
  },
  {
    name: 'refused: field that may not be read',
    weight: 2,
    as: 'editor',
    expected: [403],
    createRequest: () => get('/items/article?filter[price][_gt]=3'),
  },
  {
    name: 'refused: bad query',
    weight: 2,
    as: 'admin',
    expected: [400],
    createRequest: (n) => get(`/items/article?limit=25&filter[views][_eq]=word${n}`),
  },
  {
    name: 'refused: bad payload',
    weight: 2,
    as: 'admin',
    expected: [400],
    createRequest: () => ({ method: 'POST', path: '/items/note', body: { title: 'x', author_id: 999_999_999 } }),
  },
  {
    name: 'a query never seen before',
    weight: 5,
    as: 'admin',
    expected: [200],
    createRequest: (n) => get(`/items/article?limit=5&fields=id,title&filter[views][_eq]=${n}`),
  },
  {
    name: 'aborted: large read',
    weight: 0.5,
    as: 'admin',
    expected: [200],
    abortAfter: (random) => random.upTo(60),
    createRequest: () => get('/items/article?limit=-1'),
  },
  {
    name: 'aborted: slow search',
    weight: 1,
    as: 'admin',
    expected: [200],
    abortAfter: (random) => random.upTo(30),
    createRequest: (n) => get(`/items/article?limit=25&search=zzz${n}`),
  },
  {
    name: 'aborted: create',
    weight: 2,
    as: 'admin',
    expected: [200],
    abortAfter: (random) => random.upTo(4),
    createRequest: (n) => ({ method: 'POST', path: '/items/note', body: { title: `Aborted ${n}` } }),
  },
];

/** Creates a function that picks an action with the probability of its weight. */
export function createSoakActionChooser(actions: readonly SoakAction[]): (random: SeededRandom) => SoakAction {
  const total = actions.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    let left = random.next() * total;
    for (const action of actions) {
      left -= action.weight;
      if (left < 0) return action;
    }
    return actions[0] as SoakAction;
  };
}
