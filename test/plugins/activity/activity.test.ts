import { expect } from 'chai';
import { type Caller, fail, type Host } from '#kernel';
import { activity, type HistoryRecorder } from '../../../plugins/activity/contract.ts';
import { CORE_PLUGIN_FLOORS } from '../../../plugins/core-plugins.ts';
import type { Db } from '../../../plugins/database/contract.ts';
import { type ItemsEngine, items } from '../../../plugins/items/contract.ts';
import { createCaller } from '../../support/caller.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { captureError, withBootedTestPlugins } from '../../support/test-plugins.ts';

interface ActivityHarness {
  readonly items: ItemsEngine;
  readonly activity: HistoryRecorder;
  readonly db: Db;
  readonly system: Caller;
  readonly user: Caller;
}

const USER = '8f0a53a6-34f8-4d5a-9a1c-3f3d9f0a7c11';
const worker = {
  name: 'worker',
  manifest: {
    uses: { items: '^1.0.0', activity: '^1.0.0' },
    capabilities: {
      database: { sql: 'tests run any statement' },
      system: { reasons: ['nightly work'] },
      events: { filter: ['thing.items.update'] },
    },
  },
};

describe('the service activity', () => {
  let database: FreshDatabase;
  before(async () => {
    database = await freshDatabase('activity_code');
    await database.query('create table thing (id serial primary key, name text, up int references thing)');
  });
  beforeEach(async () => {
    if ((await database.query(`select to_regclass('platform_activity') as there`))[0]?.there)
      await database.query('truncate thing, platform_activity, platform_revisions restart identity cascade');
  });
  after(() => database.drop());

  const rows = () => database.query('select * from platform_activity order by id');

  async function working(
    work: (harness: ActivityHarness) => Promise<void>,
    listen?: (host: Host) => void,
  ): Promise<void> {
    const product = CORE_PLUGIN_FLOORS.flatMap(({ plugins }) => plugins);
    let harness: ActivityHarness | undefined;
    await withBootedTestPlugins(
      [
        {
          ...worker,
          // biome-ignore lint/suspicious/noExplicitAny: hosts are made from the manifest
          register(host: Host<any>) {
            const used = host.use({ items, activity });
            const user = createCaller({ user: USER, admin: true, app: true, ip: '10.0.0.1', origin: 'x'.repeat(400) });
            harness = { ...used, db: host.db, system: undefined as never, user };
            host.onStart(() => {
              harness = { ...(harness as ActivityHarness), system: host.asSystem('nightly work') };
            });
            listen?.(host);
          },
        },
      ],
      async ({ kernel }) => {
        await kernel.migrate();
        await kernel.start();
        await work(harness as ActivityHarness);
      },
      {
        product,
        environment: {
          DB_CONNECTION_STRING: database.url,
          SECRET: 'a secret that only tests know, long enough',
          ADMIN_PASSWORD: 'correct horse battery',
        },
      },
    );
  }

  it('a write without a user records the plugin that acted', () =>
    working(async ({ items, system }) => {
      const key = await items.createOne(system, 'thing', { name: 'a' });
      await items.updateOne(system, 'thing', key, { name: 'b' });
      await items.deleteMany(system, 'thing', [key]);
      const readListeners = await rows();
      expect(readListeners.map((row) => row.action)).to.deep.equal(['create', 'update', 'delete']);
      for (const row of readListeners) expect(row).to.include({ user: null, ip: null, invocation: null });
      expect(new Set(readListeners.map((row) => row.owner))).to.deep.equal(new Set([system.owner]));
      expect(system.owner).to.match(/worker@\d/);
    }));

  it('record() writes a row of activity, truncated to the column lengths, in the open unit of work', () =>
    working(async ({ activity, db, user }) => {
      const entry = { action: 'login', collection: 'platform_users', item: 'é'.repeat(300), comment: 'hello' };
      const id = await activity.record(user, entry);
      expect((await rows()).map((row) => ({ ...row, timestamp: null }))).to.deep.equal([
        {
          id,
          action: 'login',
          user: USER,
          timestamp: null,
          ip: '10.0.0.1',
          user_agent: null,
          origin: 'x'.repeat(255),
          collection: 'platform_users',
          item: 'é'.repeat(255),
          comment: 'hello',
          owner: null,
          invocation: null,
        },
      ]);
      await captureError(
        db.transaction(async () => {
          await activity.record(user, { ...entry, item: 7 });
          throw new Error('on purpose');
        }),
      );
      expect(await rows()).to.have.length(1);
    }));

  it('record() is rolled back with the unit of work of its caller', () =>
    working(async ({ items, db, user }) => {
      await captureError(
        db.transaction(async () => {
          await items.createOne(user, 'thing', { name: 'a' });
          await items.createMany(user, 'thing', [{ name: 'b' }, { name: 'c', up: null }]);
          throw new Error('on purpose');
        }),
      );
      expect([await rows(), await database.query('select 1 from thing')]).to.deep.equal([[], []]);
      await db.transaction(async () => {
        await items.createOne(user, 'thing', { name: 'a' });
        await items.createOne(user, 'thing', { name: 'b' });
      });
      expect(await rows()).to.have.length(2);
    }));

  it('a rejected write rolls back what a listener recorded before', () =>
    working(
      async ({ items, user }) => {
        expect((await captureError(items.updateOne(user, 'thing', 99, { name: 'x' }))).code).to.equal('FORBIDDEN');
        expect(await rows()).to.deep.equal([]);
        const key = await items.createOne(user, 'thing', { name: 'first' });
        await items.updateOne(user, 'thing', key, { name: 'x' });
        expect((await rows()).map(({ action, item }) => [action, item])).to.deep.equal([
          ['create', String(key)],
          ['login', 'by a listener'],
          ['update', String(key)],
        ]);
      },
      (host) => {
        const used = host.use({ activity }) as { activity: HistoryRecorder };
        host.events.onFilter('thing.items.update', async (_payload, { caller }) => {
          await used.activity.record(caller, { action: 'login', collection: 'thing', item: 'by a listener' });
          if (caller.user !== USER) throw fail('FORBIDDEN', 'no other user');
        });
      },
    ));
});
