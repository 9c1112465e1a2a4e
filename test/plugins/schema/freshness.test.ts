import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type Probe, type ProbeOptions, probeOn, withProbe } from './support.ts';

/** Resolves when the probe has a schema snapshot for which this holds; the test's time limit is the patience. */
async function until(probe: Probe, holds: (names: ReadonlySet<string>) => boolean): Promise<void> {
  const changes = new EventEmitter();
  probe.schema.onChange(() => changes.emit('change'));
  for (;;) {
    const next = once(changes, 'change');
    if (holds(new Set((await probe.schema.overview()).collections.keys()))) return;
    await next;
  }
}

/** The database under a role that may do nothing but own it. */
async function asOrdinaryRole(database: FreshDatabase, work: (url: string) => Promise<void>): Promise<void> {
  const role = `ordinary_${randomBytes(4).toString('hex')}`;
  await database.query(`create role ${role} login password 'secret'`);
  try {
    await database.query(`alter database "${database.name}" owner to ${role}; grant all on schema public to ${role}`);
    const url = new URL(database.url);
    url.username = role;
    url.password = 'secret';
    await work(url.href);
  } finally {
    await database.query(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`);
  }
}

const withTwoProbes = async (
  work: (one: Probe, two: Probe, database: FreshDatabase) => Promise<void>,
  options?: ProbeOptions,
) => {
  const database = await freshDatabase('two');
  try {
    const [one, two] = await Promise.all([probeOn(database, options), probeOn(database, options)]);
    try {
      await work(one, two, database);
    } finally {
      await one.stop();
      await two.stop();
    }
  } finally {
    await database.drop();
  }
};

describe('schema: freshness', () => {
  it('two processes may start on an empty database at the same moment', () =>
    withTwoProbes(async (one, two) => {
      expect((await one.schema.overview()).version).to.equal((await two.schema.overview()).version);
    }));

  it('tables that others make, change and drop are announced by the database', () =>
    withProbe('', async (probe, database) => {
      expect(
        await database.query(`select 1 from pg_event_trigger where evtname = 'platform_schema_watch'`),
      ).to.have.length(1);
      await database.query('create table fresh (id int primary key)');
      await until(probe, (names) => names.has('fresh'));
      await database.query('drop table fresh');
      await until(probe, (names) => !names.has('fresh'));
      await database.query(`insert into platform_collections (collection) values ('folder')`);
      await until(probe, (names) => names.has('folder'));
    }));

  it('nothing is asked of the database while nothing changes', () =>
    withProbe('create table a (id int primary key)', async (probe) => {
      const snapshot = await probe.schema.overview();
      expect(await probe.schema.overview()).to.equal(snapshot);
      expect(await probe.schema.refresh()).to.equal(snapshot);
    }));

  it('temporary tables are nobody’s news, and commands of others never fail for our sake', () =>
    withProbe('', async (probe, database) => {
      const snapshot = await probe.schema.overview();
      await database.query(
        'create temporary table passing (id int); drop function platform_registry_changed() cascade',
      );
      await database.query('insert into platform_collections (collection) values ($1)', ['quiet']);
      expect((await probe.schema.refresh()).collections.has('quiet')).to.equal(true);
      expect(snapshot.collections.has('quiet')).to.equal(false);
    }));

  it('without the right to watch, each request sees what was there when it came', async () => {
    const database = await freshDatabase('unwatched');
    try {
      await asOrdinaryRole(database, async (url) => {
        const probe = await probeOn({ url });
        try {
          expect(await database.query('select 1 from pg_event_trigger')).to.deep.equal([]);
          for (const [change, seen] of [
            ['create table fresh (id int primary key, note text)', true],
            ['alter table fresh rename to older', false],
            ['alter table older rename to fresh', true],
          ] as const) {
            await database.query(change);
            expect((await probe.schema.overview()).collections.has('fresh')).to.equal(seen);
          }
          const column = async () => (await probe.field('fresh', 'note')).column;
          await database.query(`alter table fresh alter note set default 'x'`);
          expect((await column())?.default).to.equal("'x'::text");
          await database.query('alter table fresh alter note set not null');
          expect((await column())?.nullable).to.equal(false);
          await database.query('create unique index on fresh (note)');
          expect((await column())?.unique).to.equal(true);
          await database.query(`comment on column fresh.note is 'new'`);
          expect((await column())?.comment).to.equal('new');
          await database.query(
            `create type mood as enum ('a'); alter table fresh add mood mood; alter type mood add value 'b'`,
          );
          expect((await probe.field('fresh', 'mood')).column?.enumValues).to.deep.equal(['a', 'b']);
          await database.query(`insert into platform_collections (collection, singleton) values ('fresh', true)`);
          expect((await probe.collection('fresh')).singleton).to.equal(true);
          const same = await probe.schema.overview();
          await database.query('insert into fresh (id, note) values (1, $1)', ['x']);
          expect(await probe.schema.overview()).to.equal(same);
          const shared = await Promise.all(Array.from({ length: 50 }, () => probe.schema.overview()));
          expect(new Set(shared).size).to.equal(1);
        } finally {
          await probe.stop();
        }
      });
    } finally {
      await database.drop();
    }
  });

  it('with CACHE_SCHEMA others’ changes wait for a refresh', () =>
    withProbe(
      '',
      async (probe, database) => {
        expect(await database.query('select 1 from pg_event_trigger')).to.deep.equal([]);
        await database.query('create table fresh (id int primary key)');
        expect((await probe.schema.overview()).collections.has('fresh')).to.equal(false);
        expect((await probe.schema.refresh()).collections.has('fresh')).to.equal(true);
      },
      { env: { CACHE_SCHEMA: 'true' } },
    ));

  for (const CACHE_SCHEMA of ['false', 'true']) {
    it(`own changes are there at once, and in other processes too (CACHE_SCHEMA=${CACHE_SCHEMA})`, () =>
      withTwoProbes(
        async (one, two) => {
          await one.writes.createCollection(one.admin, { collection: 'posts', schema: {} });
          expect((await one.schema.overview()).collections.has('posts')).to.equal(true);
          await until(two, (names) => names.has('posts'));
          expect((await two.schema.overview()).version).to.equal((await one.schema.overview()).version);
        },
        { env: { CACHE_SCHEMA } },
      ));
  }

  it('a unit of work sees its own changes, and nobody else does until it commits', () =>
    withProbe('', async (probe) => {
      const has = async () => (await probe.schema.overview()).collections.has('posts');
      let outside: boolean | undefined;
      let check = async () => {};
      const asked = new Promise<void>((resolve) => {
        // Asked from here, outside of the unit, while it is open.
        check = async () => {
          outside = await has();
          resolve();
        };
      });
      const trigger = new EventEmitter();
      trigger.once('now', () => void check());
      const unit = probe.db.transaction(async () => {
        await probe.writes.createCollection(probe.admin, { collection: 'posts', schema: {} });
        expect(await has()).to.equal(true);
        await new Promise<void>((resolve) => {
          outsideContext(() => trigger.emit('now'));
          void asked.then(resolve);
        });
      });
      await unit;
      expect(outside).to.equal(false);
      expect(await has()).to.equal(true);
    }));

  it('a change that is rolled back leaves no trace', () =>
    withProbe('', async (probe, database) => {
      const before = await probe.schema.overview();
      const work = probe.db.transaction(async () => {
        await probe.writes.createCollection(probe.admin, { collection: 'posts', schema: {} });
        throw new Error('no');
      });
      expect(await work.catch((error) => error.message)).to.equal('no');
      expect(await probe.schema.overview()).to.equal(before);
      expect(await probe.schema.refresh()).to.equal(before);
      expect(await database.query('select * from platform_collections')).to.deep.equal([]);
    }));
});

const outsideContext = (() => {
  const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks');
  return AsyncLocalStorage.snapshot();
})();
