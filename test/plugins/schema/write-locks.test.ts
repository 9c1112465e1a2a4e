import { expect } from 'chai';
import pg from 'pg';
import { captureError } from '../../support/test-plugins.ts';
import { withSchemaFixture } from './schema-fixture.ts';

describe('schemaWrites on locked tables', () => {
  it('a change of a locked table fails with SERVICE_UNAVAILABLE, and changes of other tables succeed', () =>
    withSchemaFixture('create table busy (id serial primary key)', async ({ writes, admin, schema }, database) => {
      const other = new pg.Client({ connectionString: database.url });
      await other.connect();
      try {
        await other.query('begin');
        await other.query('select * from busy');
        const change = captureError(writes.createField(admin, 'busy', { field: 'a', type: 'string' }));
        const meanwhile = writes.createCollection(admin, { collection: 'elsewhere', schema: {} });
        expect(await change).to.include({ code: 'SERVICE_UNAVAILABLE', status: 503 });
        // The change of another table waits for the failing one, and then succeeds.
        expect(await meanwhile).to.equal('elsewhere');
        await other.query('commit');
        expect(await writes.createField(admin, 'busy', { field: 'a', type: 'string' })).to.equal('a');
        expect([...((await schema.snapshot()).collections.get('busy')?.fields.keys() ?? [])]).to.deep.equal([
          'id',
          'a',
        ]);
      } finally {
        await other.end();
      }
    }));

  it('a change is tried again after a deadlock with a write of items', () =>
    withSchemaFixture(
      'create table one (id serial primary key); create table many (id serial primary key, one int)',
      async ({ writes, admin }, database) => {
        const other = new pg.Client({ connectionString: database.url });
        await other.connect();
        try {
          // PostgreSQL cancels the transaction that detects the deadlock first: with a long deadlock_timeout not this one.
          await other.query(`set deadlock_timeout to '30s'`);
          await other.query('begin');
          await other.query('insert into one default values');
          const change = writes.createRelation(admin, { collection: 'many', field: 'one', related_collection: 'one' });
          const waiting = `select 1 from pg_locks where not granted and relation = 'one'::regclass`;
          while ((await database.query(waiting)).length === 0);
          await other.query('insert into many default values');
          await other.query('commit');
          expect(await change).to.deep.equal({ collection: 'many', field: 'one' });
        } finally {
          await other.end();
        }
      },
    ));
});
