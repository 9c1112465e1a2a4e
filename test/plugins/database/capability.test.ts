import { expect } from 'chai';
import { withAuditSentences } from '../../../plugins/broker/library.ts';
import type { Db } from '../../../plugins/database/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

describe('host.db by grant', () => {
  let testKernel: TestKernel;
  let narrow: Db;
  let wide: Db;
  before(async () => {
    testKernel = await startTestKernel([
      createPluginWithDatabaseGrant(
        { own: ['mine'], read: ['theirs'], write: ['shared'] },
        (host) => void (narrow = host.db),
        {
          name: 'narrow',
        },
      ),
      createPluginWithDatabaseGrant(
        { own: ['mine'], read: ['theirs'], sql: 'tests run any statement', ddl: true },
        (host) => void (wide = host.db),
        {
          name: 'wide',
        },
      ),
    ]);
    for (const table of ['mine', 'theirs', 'shared', 'secrets'])
      await testKernel.database.query(`create table ${table} (id int, name text)`);
    await testKernel.database.query('create schema other; create table other.mine (id int)');
  });
  after(() => testKernel?.stop());

  it('a plugin reads and writes tables of "own" and "write", and reads tables of "read"', async () => {
    await narrow.table('mine').insert({ id: 1, name: 'a' });
    await narrow.table('shared').insert({ id: 1 });
    expect(await narrow.table('mine').where({ id: 1 }).update({ name: 'b' }).returning('name')).to.deep.equal([
      { name: 'b' },
    ]);
    expect(await narrow.table('theirs').select('id')).to.deep.equal([]);
    expect(await narrow.table('mine').join('theirs', 'mine.id', 'theirs.id').first('mine.id')).to.equal(undefined);
    expect(
      await narrow
        .table('mine')
        .whereIn('id', (inner) => inner.from('shared').select('id'))
        .pluck('id'),
    ).to.deep.equal([1]);
    expect(
      await narrow
        .table('mine')
        .whereNotExists((inner) => inner.from('theirs as t').select('t.id'))
        .delete(),
    ).to.equal(1);
  });

  const refused: readonly [what: string, run: () => unknown][] = [
    ['a table that is not granted', () => narrow.table('secrets')],
    ['inserting into a read table', () => narrow.table('theirs').insert({ id: 1 })],
    ['updating a read table', () => narrow.table('theirs').where({ id: 1 }).update({ id: 2 })],
    ['deleting from a read table', () => narrow.table('theirs').del()],
    ['emptying a read table', () => narrow.table('theirs').truncate()],
    ['a copy of a builder that writes', () => narrow.table('theirs').where({ id: 1 }).clone().del()],
    ['turning to another table', () => narrow.table('mine').from('secrets').select()],
    ['joining another table', () => narrow.table('mine').join('secrets', 'mine.id', 'secrets.id')],
    ['joining another table under a new name', () => narrow.table('mine').join({ s: 'secrets' }, 'mine.id', 's.id')],
    [
      'a sub-query on another table',
      () => narrow.table('mine').whereIn('id', (inner) => inner.from('secrets').select('id')),
    ],
    ['another schema', () => narrow.table('mine').withSchema('other').select()],
    ['raw joins', () => narrow.table('mine').joinRaw('join secrets on true')],
    ['raw parts', () => narrow.table('mine').whereRaw('exists (select 1 from secrets)')],
    ['plain text', () => narrow.query('select 1')],
    ['plain text whose first row is wanted', () => narrow.first('select 1')],
    ['plain text that is streamed', () => narrow.stream('select 1')],
    ['plain text that changes tables', () => narrow.ddl('create table mine2 (id int)')],
    ['the whole query builder', () => narrow.builder()],
  ];
  for (const [what, run] of refused) {
    it(`host.db denies ${what}`, async () => {
      const failed = await captureError<Error & { code: string }>(async () => run());
      expect(failed.code).to.equal('CAPABILITY_DENIED');
      expect(failed.message).to.match(/^narrow may not .+: its manifest does not grant it \(database\)$/);
    });
  }

  it('a plugin with the grants "sql" and "ddl" runs any statement and changes tables', async () => {
    expect((await wide.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await wide.ddl('create table made (id int)');
    expect(await wide.table('mine').whereRaw('id = ?', [7])).to.deep.equal([]);
  });

  it('the audit describes a grant in sentences', () => {
    const lines = withAuditSentences(testKernel.kernel.audit());
    const sentences = lines.find(({ name }) => name === 'narrow')?.sentences;
    expect(sentences).to.include.members(['owns mine', 'reads theirs', 'writes shared']);
    expect(lines.find(({ name }) => name === 'wide')?.sentences).to.include.members([
      'owns mine',
      'reads theirs',
      'runs any statement (tests run any statement)',
      'changes any table',
    ]);
  });

  it('the boot rejects a grant with an unknown member', async () => {
    const failed = await captureError(
      startTestKernel([createPluginWithDatabaseGrant({ all: true }, () => {})], {
        database: testKernel.database,
        until: 'boot',
      }),
    );
    expect(failed.message).to.contain('/capabilities/database');
  });
});
