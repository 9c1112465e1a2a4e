import { expect } from 'chai';
import { createMemoryStore } from '../../../plugins/rate-limit/stores/memory-store.ts';
import { createPostgresCounts, createRateLimitsMigration } from '../../../plugins/rate-limit/stores/postgres-store.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { createForcedGarbageCollector } from '../../support/garbage-collector.ts';
import { withBootedTestPlugins } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

type PointsStore = ReturnType<typeof createMemoryStore>;

/** What every store does; `open` opens one with windows of so many seconds. */
function itCountsInWindows(open: (duration: number) => PointsStore): void {
  it('adds up the points of a key, also concurrent ones, and says when the window ends', async () => {
    const store = open(3600);
    expect((await store.add('a', 1)).used).to.equal(1);
    const all = await Promise.all(Array.from({ length: 20 }, () => store.add('a', 2)));
    expect(all.map(({ used }) => used).sort((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => 3 + 2 * at),
    );
    for (const { resetIn } of all) expect(resetIn).to.be.within(3_500_000, 3_600_000);
    expect((await store.add('b', 1)).used).to.equal(1);
  });

  it('begins a new window when one has ended', async () => {
    const store = open(1);
    await store.add('c', 5);
    const next = await until(async () => {
      const window = await store.add('c', 1);
      return window.used < 6 && window;
    });
    expect(next.used).to.equal(1);
    expect(next.resetIn).to.be.within(1, 1000);
  });
}

describe('counts in memory', function () {
  this.timeout(60_000);
  itCountsInWindows((duration) => createMemoryStore({ points: 10, duration }));

  it('forget the key that was silent for the longest time where there are too many', async () => {
    const store = createMemoryStore({ points: 10, duration: 3600 }, 3);
    for (const key of ['a', 'b', 'c', 'a', 'd']) await store.add(key, 1);
    expect((await store.add('a', 1)).used).to.equal(3);
    expect((await store.add('b', 1)).used).to.equal(1);
  });

  it('take bounded memory, however many addresses a client has', async function () {
    this.timeout(120_000);
    const collectGarbage = createForcedGarbageCollector();
    const store = createMemoryStore({ points: 10, duration: 3600 });
    const fill = async (from: number) => {
      for (let count = from; count < from + 60_000; count++) await store.add(`2001db8${count.toString(16)}/64`, 1);
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    collectGarbage();
    const empty = process.memoryUsage().heapUsed;
    for (const from of [0, 1e6, 2e6]) expect((await fill(from)) - empty).to.be.below(40 * 1024 * 1024);
  });
});

describe('counts in PostgreSQL', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let stop: () => void = () => {};
  let ended: Promise<void>;
  let counts: ReturnType<typeof createPostgresCounts>;
  before(async () => {
    database = await freshDatabase('rate_limits');
    const stopped = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    stop = stopped.resolve;
    ended = withBootedTestPlugins(
      [
        {
          name: 'counting',
          manifest: {
            capabilities: { database: { own: ['platform_rate_limits'] } },
            contributes: { 'database.migrations': {} },
          },
          register(host) {
            host.contribute('database.migrations', createRateLimitsMigration(host.db));
            counts = createPostgresCounts(host.db, 30_000);
          },
        },
      ],
      async ({ kernel }) => {
        await kernel.migrate();
        await kernel.start();
        started.resolve();
        await stopped.promise;
      },
      { product: ['database'], environment: { DB_CONNECTION_STRING: database.url } },
    );
    await Promise.race([started.promise, ended]);
  });
  after(async () => {
    stop();
    await ended;
    await database?.drop();
  });
  let opened = 0;
  itCountsInWindows((duration) => counts.createStore({ name: `test${opened++}`, duration }));

  it('are in an unlogged table, from which ended windows are removed', async () => {
    const [table] = await database.query(`select relpersistence from pg_class where relname = 'platform_rate_limits'`);
    expect(table).to.deep.equal({ relpersistence: 'u' });
    await counts.createStore({ name: 'short', duration: 1 }).add('a', 1);
    await counts.createStore({ name: 'long', duration: 3600 }).add('a', 1);
    const keys = await until(async () => {
      await counts.removeEnded();
      const rows = await database.query<{ key: string }>('select key from platform_rate_limits');
      return !rows.some(({ key }) => key === 'short:a') && rows.map(({ key }) => key);
    });
    expect(keys).to.include('long:a');
  });
});
