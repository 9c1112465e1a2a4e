import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import {
  type SchemaFixture,
  type SchemaFixtureOptions,
  startSchemaFixture,
  withSchemaFixture,
} from './schema-fixture.ts';

/** Resolves when the names in the schema snapshot meet the condition; mocha's timeout ends the wait. */
async function until(probe: SchemaFixture, holds: (names: ReadonlySet<string>) => boolean): Promise<void> {
  const changes = new EventEmitter();
  probe.schema.onChange(() => changes.emit('change'));
  for (;;) {
    const next = once(changes, 'change');
    if (holds(new Set((await probe.schema.snapshot()).collections.keys()))) return;
    await next;
  }
}

/** Runs `work` with the URL of the database for a role that owns it and is no superuser. */
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
  work: (one: SchemaFixture, two: SchemaFixture, database: FreshDatabase) => Promise<void>,
  options?: SchemaFixtureOptions,
) => {
  const database = await freshDatabase('two');
  try {
    const [one, two] = await Promise.all([
      startSchemaFixture(database, options),
      startSchemaFixture(database, options),
    ]);
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

describe('freshness of the schema snapshot', () => {
  it('two processes that start on an empty database at the same time have the same version', () =>
    withTwoProbes(async (one, two) => {
      expect((await one.schema.snapshot()).version).to.equal((await two.schema.snapshot()).version);
    }));

  it('the database announces tables and registry rows that other programs create and drop', () =>
    withSchemaFixture('', async (probe, database) => {
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

  it('the snapshot stays the same object while nothing changes', () =>
    withSchemaFixture('create table a (id int primary key)', async (probe) => {
      const snapshot = await probe.schema.snapshot();
      expect(await probe.schema.snapshot()).to.equal(snapshot);
      expect(await probe.schema.refresh()).to.equal(snapshot);
    }));

  it('a temporary table is not announced, and statements of other programs succeed without the trigger function', () =>
    withSchemaFixture('', async (probe, database) => {
      const snapshot = await probe.schema.snapshot();
      await database.query(
        'create temporary table passing (id int); drop function platform_registry_changed() cascade',
      );
      await database.query('insert into platform_collections (collection) values ($1)', ['quiet']);
      expect((await probe.schema.refresh()).collections.has('quiet')).to.equal(true);
      expect(snapshot.collections.has('quiet')).to.equal(false);
    }));

  it('without the privilege for an event trigger, each snapshot has the changes before it', async () => {
    const database = await freshDatabase('unwatched');
    try {
      await asOrdinaryRole(database, async (url) => {
        const probe = await startSchemaFixture({ url });
        try {
          expect(await database.query('select 1 from pg_event_trigger')).to.deep.equal([]);
          for (const [change, seen] of [
            ['create table fresh (id int primary key, note text)', true],
            ['alter table fresh rename to older', false],
            ['alter table older rename to fresh', true],
          ] as const) {
            await database.query(change);
            expect((await probe.schema.snapshot()).collections.has('fresh')).to.equal(seen);
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
          const same = await probe.schema.snapshot();
          await database.query('insert into fresh (id, note) values (1, $1)', ['x']);
          expect(await probe.schema.snapshot()).to.equal(same);
          const shared = await Promise.all(Array.from({ length: 50 }, () => probe.schema.snapshot()));
          expect(new Set(shared).size).to.equal(1);
        } finally {
          await probe.stop();
        }
      });
    } finally {
      await database.drop();
    }
  });

  it('with CACHE_SCHEMA=true, changes by other programs wait for a refresh', () =>
    withSchemaFixture(
      '',
      async (probe, database) => {
        expect(await database.query('select 1 from pg_event_trigger')).to.deep.equal([]);
        await database.query('create table fresh (id int primary key)');
        expect((await probe.schema.snapshot()).collections.has('fresh')).to.equal(false);
        expect((await probe.schema.refresh()).collections.has('fresh')).to.equal(true);
      },
      { env: { CACHE_SCHEMA: 'true' } },
    ));

  for (const CACHE_SCHEMA of ['false', 'true']) {
    it(`changes by schemaWrites are in the snapshots of all processes (CACHE_SCHEMA=${CACHE_SCHEMA})`, () =>
      withTwoProbes(
        async (one, two) => {
          await one.writes.createCollection(one.admin, { collection: 'posts', schema: {} });
          expect((await one.schema.snapshot()).collections.has('posts')).to.equal(true);
          await until(two, (names) => names.has('posts'));
          expect((await two.schema.snapshot()).version).to.equal((await one.schema.snapshot()).version);
        },
        { env: { CACHE_SCHEMA } },
      ));
  }

  it('a unit of work sees its own changes, and other callers see them after the commit', () =>
    withSchemaFixture('', async (probe) => {
      const has = async () => (await probe.schema.snapshot()).collections.has('posts');
      let outside: boolean | undefined;
      let check = async () => {};
      const checked = new Promise<void>((resolve) => {
        // Runs outside of the unit of work, while that is open.
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
          void checked.then(resolve);
        });
      });
      await unit;
      expect(outside).to.equal(false);
      expect(await has()).to.equal(true);
    }));

  it('a change that is rolled back leaves the snapshot and the registry unchanged', () =>
    withSchemaFixture('', async (probe, database) => {
      const before = await probe.schema.snapshot();
      const work = probe.db.transaction(async () => {
        await probe.writes.createCollection(probe.admin, { collection: 'posts', schema: {} });
        throw new Error('no');
      });
      expect(await work.catch((error) => error.message)).to.equal('no');
      expect(await probe.schema.snapshot()).to.equal(before);
      expect(await probe.schema.refresh()).to.equal(before);
      expect(await database.query('select * from platform_collections')).to.deep.equal([]);
    }));
});

const outsideContext = (() => {
  const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks');
  return AsyncLocalStorage.snapshot();
})();
