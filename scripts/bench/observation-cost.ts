import { createOperationMetrics } from '../../plugins/metrics/operation-metrics.ts';
import { createRequestMetrics } from '../../plugins/metrics/request-metrics.ts';

const TIMES = 300_000;
const REPETITIONS = 7;
const MAX_SERIES = 1000;
const ROUTE = { path: '/items/:collection/:id', owner: '@tenon/items' };
const STATEMENT = { kind: 'statement', owner: '@tenon/query', name: 'SELECT', text: 'select 1' } as const;

/**
 * Microseconds of processor time that metrics add to one request and to one statement, measured by themselves: the difference of two
 * services is smaller than what other work of a machine adds to either.
 */
export async function measureObservationCost(): Promise<{ readonly request: number; readonly statement: number }> {
  const requests = createRequestMetrics(MAX_SERIES);
  const operations = createOperationMetrics(MAX_SERIES);
  const work = async () => 1;
  const plain = await shortest(work);
  const request = await shortest(() => {
    const observation = requests.observer.begin({} as never);
    observation.end({ method: 'GET', status: 200, route: ROUTE, duration: 1.5, user: null });
    return work();
  });
  const statement = await shortest(() => operations.observer.run({ ...STATEMENT }, work));
  return { request: request - plain, statement: statement - plain };
}

async function shortest(run: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const before = process.cpuUsage();
    for (let time = 0; time < TIMES; time++) await run();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / TIMES);
  }
  return best;
}
