import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type QueueTestService, startQueueService } from './queue-service.ts';

describe('a queue of two processes on one database', () => {
  let database: FreshDatabase;
  const started: QueueTestService[] = [];
  beforeEach(async () => {
    database = await createMigratedDatabase('queue');
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
    await database.drop();
  });

  async function start(options: Parameters<typeof startQueueService>[0] = {}): Promise<QueueTestService> {
    const one = await startQueueService(options, database);
    started.push(one);
    return one;
  }
  async function stop(one: QueueTestService): Promise<void> {
    started.splice(started.indexOf(one), 1);
    await one.stop();
  }
  const states = async () =>
    (
      await database.query<{ state: string; count: number }>(
        'select state::text, count(*)::int from platform_queue.job group by state',
      )
    ).map(({ state, count }) => [state, count]);

  it('is not created before the first job, and no process keeps a connection for it', async () => {
    const one = await start();
    await stop(one);
    const [row] = await database.query<{ schema: string | null }>(
      `select to_regnamespace('platform_queue')::text as schema`,
    );
    expect(row?.schema).to.equal(null);
  });

  it('runs each of 300 jobs once, in both processes', async () => {
    const [one, other] = [await start({ concurrency: 4 }), await start({ concurrency: 4 })];
    await Promise.all(Array.from({ length: 300 }, (_, number) => (number % 2 ? one : other).queue.add({ number })));
    await until(async () => (await states()).every(([state]) => state === 'completed'), 120_000);
    const numbers = [...one.runs, ...other.runs].map(({ data }) => data.number as number);
    expect(numbers.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 300 }, (_, number) => number));
    expect([one.runs.length > 0, other.runs.length > 0]).to.deep.equal([true, true]);
  });

  it('runs jobs that were added before the start of a process, and after all others had stopped', async () => {
    const one = await start({ run: () => Promise.reject(new Error('later')), retryDelay: 1 });
    await one.queue.add({ number: 1 });
    await until(() => one.log.length > 0);
    await stop(one);
    const other = await start();
    await until(() => other.runs.length > 0, 60_000);
    expect(other.runs[0]?.attempt).to.be.above(1);
  });

  it('runs a job elsewhere whose process stops before it has ended, and aborts its signal', async () => {
    const reasons: unknown[] = [];
    const one = await start({
      run: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push((signal.reason as Error).message);
            reject(signal.reason);
          });
        }),
    });
    await one.queue.add({ number: 1 });
    await until(() => one.runs.length === 1);
    const other = await start();
    await stop(one);
    expect(reasons).to.deep.equal(['the service stops']);
    await until(() => other.runs.length === 1, 60_000);
    await until(async () => (await states())[0]?.[0] === 'completed');
  });

  it('cancels a job in the process that runs it, at the word of another one', async () => {
    const aborted = Promise.withResolvers<void>();
    const one = await start({
      run: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.resolve();
            resolve(undefined);
          });
        }),
    });
    const id = (await one.queue.add({})) as string;
    await until(() => one.runs.length === 1);
    const other = await start();
    expect(await other.queue.cancel(id)).to.equal(true);
    await aborted.promise;
    expect(await states()).to.deep.equal([['cancelled', 1]]);
  });

  it('goes on after PostgreSQL closed its connections', async () => {
    const one = await start({ retryDelay: 1 });
    await one.queue.add({ number: 1 });
    await until(() => one.runs.length === 1);
    await database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await until(async () => (await one.queue.add({ number: 2 }).catch(() => undefined)) ?? undefined, 60_000);
    await until(() => one.runs.some(({ data }) => data.number === 2), 60_000);
  });
});
