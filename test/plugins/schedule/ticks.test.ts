import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Host } from '#kernel';
import { boot } from '#kernel/boot';
import type { Db } from '../../../plugins/database/contract.ts';
import { createScheduleTicks } from '../../../plugins/schedule/schedule-ticks.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { silentSettings, writeTestPluginPackages } from '../../support/test-plugins.ts';

const folders = ['workers', 'database', 'cluster', 'schedule'].map(
  (name) => new URL(`../../../plugins/${name}/`, import.meta.url),
);

describe('createScheduleTicks()', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await freshDatabase('ticks');
  });
  afterEach(() => database?.drop());

  /** Runs `work` with `host.db` of a plugin that owns the table of the ticks. */
  async function run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    let host: Host | undefined;
    const { composition, remove } = await writeTestPluginPackages([
      {
        name: 'holder',
        manifest: { capabilities: { database: { own: ['platform_schedule_ticks'] } } },
        register: (value) => void (host = value),
      },
    ]);
    const kernel = await boot(
      { plugins: [...folders, ...composition.plugins] },
      { environment: { ...silentSettings, DB_CONNECTION_STRING: database.url } },
    );
    try {
      await kernel.migrate();
      return await work((host as Host).db);
    } finally {
      await kernel.stop();
      await remove();
    }
  }
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  /** The ticks as one process sees them; `dead` are the processes that are not alive. */
  const processOn = (db: Db, dead: string[] = [], id: string = randomUUID()) => ({
    id,
    ...createScheduleTicks({
      db,
      presence: { id, findDead: async (ids) => ids.filter((one) => dead.includes(one)) },
    }),
  });

  it('claims each tick once, and never a tick before the last one', async () => {
    await run(async (db) => {
      const processes = Array.from({ length: 8 }, () => processOn(db));
      const claims = await Promise.all(processes.map(({ claim }) => claim('race', at(1))));
      expect(claims.filter(Boolean)).to.have.length(1);
      const { claim } = processOn(db);
      expect([await claim('race', at(3)), await claim('race', at(2))]).to.deep.equal([true, false]);
      expect(await claim('other', at(1))).to.equal(true);
    });
  });

  it('claims a tick again in the process that has it, until its run has ended', async () => {
    await run(async (db) => {
      const [one, other] = [processOn(db), processOn(db)];
      const claims = await Promise.all([one.claim('a', at(1)), one.claim('a', at(1)), one.claim('a', at(1))]);
      expect(claims).to.deep.equal([true, true, true]);
      expect([await other.claim('a', at(1)), await one.claim('a', at(1))]).to.deep.equal([false, true]);
      await one.finish('a', at(1));
      expect([await other.claim('a', at(1)), await one.claim('a', at(1))]).to.deep.equal([false, false]);
    });
  });

  it('takes over the unfinished ticks of dead processes, each in one process, and no finished ones', async () => {
    await run(async (db) => {
      const dead: string[] = [];
      const [winner, first, second] = [processOn(db, dead), processOn(db, dead), processOn(db, dead)];
      await winner.claim('a', at(1));
      await winner.finish('a', at(1));
      await winner.claim('a', at(2));
      expect(await first.takeOver('a', at(0))).to.deep.equal({ taken: [], isWatched: true });
      dead.push(winner.id);
      const results = await Promise.all([first.takeOver('a', at(0)), second.takeOver('a', at(0))]);
      expect(results.flatMap(({ taken }) => taken)).to.deep.equal([at(2)]);
      expect(await second.takeOver('a', at(2))).to.deep.equal({ taken: [], isWatched: false });
    });
  });

  it('gives waiting ticks in their order, each once over all processes, and those of dead processes first', async () => {
    await run(async (db) => {
      const dead: string[] = [];
      const [one, other] = [processOn(db, dead), processOn(db, dead)];
      await one.claim('a', at(1));
      expect(await other.next('a', at(0))).to.deep.equal({ tick: at(1), state: 'running', isOwn: false });
      expect(await one.next('a', at(0))).to.include({ state: 'running', isOwn: true });
      await Promise.all([one, other].map(({ enqueue }) => enqueue('a', [at(1), at(2), at(3), at(4)], 10)));
      expect(await other.look('a', at(0))).to.deep.equal({ isLeft: true, isWatched: true });
      dead.push(one.id);
      const taken: Date[] = [];
      for (;;) {
        const next = await other.next('a', at(0));
        if (!next) break;
        expect(next).to.include({ state: 'taken' });
        taken.push(next.tick);
        await other.finish('a', next.tick);
      }
      expect(taken).to.deep.equal([at(1), at(2), at(3), at(4)]);
      expect(await other.look('a', at(0))).to.deep.equal({ isLeft: false, isWatched: false });
      await other.enqueue('a', [at(3), at(5)], 10);
      expect((await other.next('a', at(0)))?.tick).to.deep.equal(at(5));
    });
  });

  it('adds the first ticks only where more would wait than may, and says so', async () => {
    await run(async (db) => {
      const { enqueue, next } = processOn(db);
      expect(await enqueue('a', [at(1), at(2), at(3)], 2)).to.deep.equal({ isFull: true });
      expect(await enqueue('a', [at(4)], 2)).to.deep.equal({ isFull: true });
      expect((await next('a', at(0)))?.tick).to.deep.equal(at(1));
      const rows = await database.query('select tick from platform_schedule_ticks order by tick');
      expect(rows.map(({ tick }) => tick)).to.deep.equal([at(1), at(2)]);
    });
  });

  it('skipTo() drops what waits, and records a last tick without a run', async () => {
    await run(async (db) => {
      const one = processOn(db);
      await one.enqueue('a', [at(1), at(2)], 10);
      await one.skipTo('a', at(5));
      expect([await one.next('a', at(0)), await one.last('a', at(9))]).to.deep.equal([undefined, at(5)]);
      await one.skipTo('a', at(4));
      expect([await one.last('a', at(9)), await one.claim('a', at(5))]).to.deep.equal([at(5), false]);
    });
  });

  it('keeps the last tick of a job, and records the first look at a job as its first tick', async () => {
    await run(async (db) => {
      const one = processOn(db);
      expect(await one.last('a', at(5))).to.deep.equal(at(5));
      for (const second of [6, 7, 8]) {
        await one.claim('a', at(second));
        await one.finish('a', at(second));
      }
      expect(await one.last('a', at(9))).to.deep.equal(at(8));
      const rows = await database.query('select tick from platform_schedule_ticks');
      expect(rows).to.have.length(1);
    });
  });

  it('begins with the last ticks that an older version recorded', async () => {
    await database.query(
      'create table platform_extension_ticks (schedule text primary key, tick timestamptz not null)',
    );
    await database.query(`insert into platform_extension_ticks values ('a', $1)`, [at(3)]);
    await run(async (db) => {
      const { claim } = processOn(db);
      expect([await claim('a', at(3)), await claim('a', at(4))]).to.deep.equal([false, true]);
    });
    expect(await database.query(`select to_regclass('platform_extension_ticks') as found`)).to.deep.equal([
      { found: null },
    ]);
  });
});
