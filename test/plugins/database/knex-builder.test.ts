import { expect } from 'chai';
import type { Knex } from 'knex';
import type { Db } from '../../../plugins/database/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

describe('db.builder', () => {
  let testKernel: TestKernel;
  let db: Db;
  let narrow: Db;
  let knex: Knex;
  before(async () => {
    testKernel = await startTestKernel(
      [
        createPluginWithDatabaseGrant({ sql: 'tests run any statement', ddl: true }, (host) => void (db = host.db)),
        {
          ...createPluginWithDatabaseGrant({ sql: 'tests run any statement' }, (host) => void (narrow = host.db)),
          name: 'narrow',
        },
      ],
      { environment: { DB_POOL_MAX: '3' } },
    );
    knex = db.builder();
    await knex.schema.createTable('notes', (table) => {
      table.increments();
      table.string('text').unique();
    });
  });
  after(() => testKernel?.stop());
  beforeEach(() => testKernel.database.query('truncate notes'));

  const kept = async () =>
    (await testKernel.database.query<{ text: string }>('select text from notes order by text')).map(({ text }) => text);

  it('db.builder is denied without the grants "sql" and "ddl"', async () => {
    expect((await captureError<{ code: string }>(() => narrow.builder())).code).to.equal('CAPABILITY_DENIED');
  });

  it('the builder reads, writes and runs raw statements', async () => {
    const [row] = await knex('notes').insert({ text: 'a' }).returning('text');
    expect(row).to.deep.equal({ text: 'a' });
    expect(await knex('notes').where({ text: 'a' }).first('text')).to.deep.equal({ text: 'a' });
    expect((await knex.raw('select ?::int as one', [1])).rows).to.deep.equal([{ one: 1 }]);
    expect(await knex.schema.hasTable('notes')).to.equal(true);
  });

  it('the builder runs on the connection of the current unit of work', async () => {
    await captureError(
      db.transaction(async () => {
        await knex('notes').insert({ text: 'gone' });
        expect(await knex('notes').count()).to.deep.equal([{ count: '1' }]);
        throw new Error('on purpose');
      }),
    );
    expect(await kept()).to.deep.equal([]);
  });

  it('a transaction of the builder is a unit of work, which statements of host.db inside it join', async () => {
    const answer = await knex.transaction(async (trx) => {
      await trx('notes').insert({ text: 'a' });
      await db.query(`insert into notes (text) values ('b')`);
      expect(await kept()).to.deep.equal([]);
      return 7;
    });
    expect([answer, await kept()]).to.deep.equal([7, ['a', 'b']]);
    const failed = await captureError(
      knex.transaction(async (trx) => {
        await trx('notes').insert({ text: 'c' });
        throw new Error('on purpose');
      }),
    );
    expect([failed.message, await kept()]).to.deep.equal(['on purpose', ['a', 'b']]);
  });

  it('a transaction without a container is ended by commit or rollback, and db.runInTransaction runs work in it', async () => {
    const trx = await knex.transaction();
    await trx('notes').insert({ text: 'a' });
    await db.runInTransaction(trx, () => db.query(`insert into notes (text) values ('b')`));
    await knex('notes').transacting(trx).insert({ text: 'c' });
    expect([await kept(), trx.isTransaction, trx.isCompleted()]).to.deep.equal([[], true, false]);
    await trx.commit();
    expect([await kept(), trx.isCompleted()]).to.deep.equal([['a', 'b', 'c'], true]);
    expect((await captureError(trx('notes').insert({ text: 'd' }))).message).to.match(/complete/);
    expect((await captureError(db.runInTransaction(trx, async () => 1))).message).to.match(/complete/);

    const undone = await knex.transaction();
    await undone('notes').insert({ text: 'd' });
    await undone.rollback();
    expect(await kept()).to.deep.equal(['a', 'b', 'c']);
  });

  it('a nested transaction rolls back by itself, with its after-commit effects', async () => {
    const effects: string[] = [];
    await knex.transaction(async (trx) => {
      await trx('notes').insert({ text: 'a' });
      const failed = await captureError(
        trx.transaction(async (inner) => {
          await inner('notes').insert({ text: 'b' });
          db.afterCommit(() => effects.push('b'));
          await inner('notes').insert({ text: 'a' });
        }),
      );
      expect((failed as unknown as { code: string }).code).to.equal('23505');
      await Promise.all(['c', 'd'].map((text) => trx.transaction((inner) => inner('notes').insert({ text }))));
      db.afterCommit(() => effects.push('a'));
    });
    expect([await kept(), effects]).to.deep.equal([['a', 'c', 'd'], ['a']]);
  });

  it('a transaction has the requested isolation level, and an unknown level fails', async () => {
    const show = (trx: Knex.Transaction) => trx.raw('show transaction_isolation').then(({ rows }) => rows[0]);
    const level = await knex.transaction(show, { isolationLevel: 'serializable' });
    expect(level).to.deep.equal({ transaction_isolation: 'serializable' });
    expect((await captureError(knex.transaction(show, { isolationLevel: 'none' as never }))).message).to.match(/none/);
  });

  it('the builder gives every connection back', async () => {
    for (let round = 0; round < 5; round++) {
      await captureError(knex.raw('select broken'));
      await captureError(knex.transaction((trx) => trx.raw('select broken')));
      await knex.transaction((trx) => trx('notes').select());
    }
    await knex.destroy();
    expect(await knex('notes').select()).to.deep.equal([]);
  });
});
