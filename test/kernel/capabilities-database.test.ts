import { expect } from 'chai';
import type { Host } from '#kernel';
import type { Db } from '../../plugins/database/contract.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { captureError, withBootedTestPlugins } from '../support/test-plugins.ts';

interface Case {
  readonly part: string;
  readonly grant: Record<string, unknown>;
  /** A grant that lacks the tested part and is otherwise sufficient. */
  readonly without: Record<string, unknown>;
  use(db: Db): Promise<unknown>;
  readonly worked: unknown;
  readonly refusal: string;
}

const cases: readonly Case[] = [
  {
    part: 'own',
    grant: { own: ['mine'] },
    without: {},
    use: async (db) => {
      await db.table('mine').insert({ id: 1, word: 'one' });
      return db.table('mine').select('word');
    },
    worked: [{ word: 'one' }],
    refusal: 'use the table mine',
  },
  {
    part: 'read',
    grant: { read: ['theirs'] },
    without: { own: ['mine'] },
    use: async (db) => db.table('theirs').select('word').where({ id: 7 }),
    worked: [{ word: 'seven' }],
    refusal: 'use the table theirs',
  },
  {
    part: 'write',
    grant: { write: ['theirs'] },
    without: { read: ['theirs'] },
    use: async (db) => db.table('theirs').where({ id: 7 }).update({ word: 'seven' }),
    worked: 1,
    refusal: 'write to the table theirs',
  },
  {
    part: 'own, by statements',
    grant: { own: ['mine'] },
    without: { write: ['mine'] },
    use: async (db) => db.ddl(db.sql`alter table ${db.own('mine')} add column if not exists more text`),
    worked: undefined,
    refusal: 'change the table mine',
  },
  {
    part: 'read, by statements',
    grant: { read: ['theirs'] },
    without: { own: ['mine'] },
    use: async (db) => (await db.query(db.sql`select word from ${db.read('theirs')} where id = $1`, [7])).rows,
    worked: [{ word: 'seven' }],
    refusal: 'use the table theirs',
  },
  {
    part: 'write, by statements',
    grant: { write: ['theirs'] },
    without: { read: ['theirs'] },
    use: async (db) =>
      (await db.query(db.sql`update ${db.write('theirs')} set word = 'seven' where id = $1`, [7])).count,
    worked: 1,
    refusal: 'write to the table theirs',
  },
  {
    part: 'watch',
    grant: { watch: ['theirs'] },
    without: { write: ['theirs'] },
    use: async (db) => db.ddl(db.sql`drop trigger if exists unheard on ${db.watch('theirs')}`),
    worked: undefined,
    refusal: 'put a trigger on the table theirs',
  },
  {
    part: 'sql',
    grant: { sql: 'tests run any statement' },
    without: { own: ['mine'], ddl: true },
    use: async (db) => (await db.query('select $1::int + 1 as two', [1])).rows,
    worked: [{ two: 2 }],
    refusal: 'run any statement',
  },
  {
    part: 'ddl',
    grant: { ddl: true },
    without: { read: ['theirs'], sql: 'tests run any statement' },
    use: async (db) => db.ddl(db.sql`create table if not exists fresh (id int)`),
    worked: undefined,
    refusal: 'change tables',
  },
];

describe('the capability "database"', () => {
  let database: FreshDatabase;
  before(async () => {
    database = await freshDatabase('capability');
    await database.query(`create table mine (id int, word text); create table theirs (id int, word text)`);
    await database.query(`insert into theirs values (7, 'seven')`);
  });
  after(() => database.drop());
  beforeEach(() => database.query('truncate mine'));

  /** Returns the result of `use` in a plugin with this database grant, or, for `undefined`, without the capability. */
  const answerOf = (grant: Record<string, unknown> | undefined, use: Case['use']): Promise<unknown> => {
    let db: Db | undefined;
    const plugin = {
      name: 'p',
      manifest: { capabilities: grant ? { database: grant } : {} },
      register: (host: Host) => void (db = host.db),
    };
    return withBootedTestPlugins(
      [plugin],
      async ({ kernel }) => {
        await kernel.migrate();
        return use(db as Db);
      },
      { product: ['database'], environment: { DB_CONNECTION_STRING: database.url } },
    );
  };

  for (const { part, grant, without, use, worked, refusal } of cases) {
    it(`a plugin with the grant "${part}" may ${refusal}`, async () => {
      expect(await answerOf(grant, use)).to.deep.equal(worked);
    });

    it(`a plugin without the grant "${part}" is denied with CAPABILITY_DENIED, which names it`, async () => {
      const failure = await captureError(answerOf(without, use));
      expect(failure.code).to.equal('CAPABILITY_DENIED');
      expect(failure.detail).to.equal(`p may not ${refusal}: its manifest does not grant it (database)`);
    });
  }

  it('a plugin without any database grant is denied host.db', async () => {
    const failure = await captureError(answerOf(undefined, async () => {}));
    expect(failure.message).to.equal('p may not use host.db: its manifest does not grant it (database)');
  });

  const ways: readonly [what: string, use: Case['use']][] = [
    ['a join', async (db) => db.table('mine').join('theirs', 'mine.id', 'theirs.id').select('theirs.word')],
    ['a sub-query', async (db) => db.table('mine').whereIn('id', (query) => void query.select('id').from('theirs'))],
    ['another name in from', async (db) => db.table('mine').from('theirs').select('*')],
    [
      'a union',
      async (db) =>
        db
          .table('mine')
          .select('word')
          .union((query) => void query.select('word').from('theirs')),
    ],
    [
      'a common table expression',
      async (db) =>
        db
          .table('mine')
          .with('x', (query) => void query.select('*').from('theirs'))
          .select('*'),
    ],
    ['a raw expression', async (db) => db.table('mine').whereRaw('id in (select id from theirs)')],
    ['another schema', async (db) => db.table('mine').withSchema('pg_catalog').select('*')],
  ];
  for (const [what, use] of ways) {
    it(`the grant "own" cannot be circumvented by ${what}`, async () => {
      await database.query(`insert into mine values (7, 'mine')`);
      const failure = await captureError(answerOf({ own: ['mine'] }, use));
      expect(failure.code).to.equal('CAPABILITY_DENIED');
    });
  }
});
