import { expect } from 'chai';
import type { Db, GrantedSqlStatement, TableHandle } from '../../../plugins/database/contract.ts';
import { type ObservedStatement, observeStatements } from '../../../plugins/database/library.ts';
import { captureError } from '../../support/test-plugins.ts';
import { collectAll, createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

describe('db.sql', () => {
  let testKernel: TestKernel;
  let db: Db;
  let other: Db;
  let unrestricted: Db;
  before(async () => {
    const grant = { own: ['mine'], read: ['theirs'], write: ['shared'], watch: ['watched'] };
    testKernel = await startTestKernel([
      createPluginWithDatabaseGrant(grant, (host) => void (db = host.db), { name: 'narrow' }),
      createPluginWithDatabaseGrant({ own: ['mine', 'secrets'] }, (host) => void (other = host.db), { name: 'other' }),
      createPluginWithDatabaseGrant({ sql: 'tests run any statement' }, (host) => void (unrestricted = host.db), {
        name: 'whole',
      }),
    ]);
    for (const table of ['mine', 'theirs', 'shared', 'watched', 'secrets'])
      await testKernel.database.query(`create table ${table} (id int, name text)`);
  });
  beforeEach(() => testKernel.database.query('truncate mine, shared'));
  after(() => testKernel?.stop());

  it('a statement reads, writes and locks tables by their handles', async () => {
    const [mine, theirs, shared] = [db.write('mine'), db.read('theirs'), db.write('shared')];
    const { rows } = await db.query(
      db.sql`with more as (insert into ${shared} (id) values ($1) returning id)
        insert into ${mine} (id) select id from more where not exists (select from ${theirs}) returning id`,
      [7],
    );
    expect(rows).to.deep.equal([{ id: 7 }]);
    expect((await db.query(db.sql`select id from ${db.read('mine')} for update`)).rows).to.deep.equal([{ id: 7 }]);
    expect((await db.query(db.sql`update ${mine} as m set name = 'a' where m.id = $1`, [7])).count).to.equal(1);
  });

  it('a statement interpolates other statements, names and literals of its plugin', async () => {
    await db.query(db.sql`insert into ${db.write('mine')} values (1, 'it''s')`);
    const condition = db.sql`${db.name('name')} = ${db.literal("it's")}`;
    const { rows } = await db.query(db.sql`select id from ${db.read('mine')} where ${condition}`);
    expect(rows).to.deep.equal([{ id: 1 }]);
    expect(db.name('a"b').text).to.equal('"a""b"');
  });

  it('db.first and db.stream run a statement of db.sql', async () => {
    await db.query(db.sql`insert into ${db.write('mine')} values (1, 'a')`);
    const NAMES = db.sql`select name from ${db.read('mine')}`;
    expect(await db.first(NAMES)).to.deep.equal(['a']);
    expect(await collectAll(db.stream(NAMES))).to.deep.equal([['a']]);
  });

  it('db.ddl alters own tables and puts triggers on watched tables', async () => {
    await db.ddl(db.sql`alter table ${db.own('mine')} add column more int`);
    await db.ddl(db.sql`create index on ${db.own('mine')} (more)`);
    const run = db.sql`${db.name('on_insert')}()`;
    await db.ddl(db.sql`create function ${run} returns trigger language plpgsql as $$ begin return null; end $$`);
    await db.ddl(db.sql`create trigger on_insert after insert on ${db.watch('watched')} execute function ${run}`);
    await db.ddl(db.sql`drop trigger on_insert on ${db.watch('watched')}`);
  });

  it('a statement interpolates a part that a plugin with the grant "sql" created by db.raw', async () => {
    await testKernel.database.query('insert into secrets values (3)');
    await testKernel.database.query('insert into mine values (3), (4)');
    const condition = unrestricted.raw('id in (select id from secrets)');
    const { rows } = await db.query(db.sql`select id from ${db.read('mine')} where (${condition})`);
    expect(rows).to.deep.equal([{ id: 3 }]);
  });

  it('statements and handles are frozen', () => {
    const parts: [TableHandle, GrantedSqlStatement] = [db.read('mine'), db.sql`select 1`];
    expect(parts.map(Object.isFrozen)).to.deep.equal([true, true]);
    expect(String(parts[0])).to.equal('"public"."mine"');
  });

  it('onStatement observes statements with their plugin, without the text of other plugins', async () => {
    const seen: ObservedStatement[] = [];
    observeStatements((one) => void (one.plugin === 'narrow' && seen.push(one)));
    try {
      await db.query(db.sql`select ${unrestricted.raw('1')} from ${db.read('mine')}`);
      await db.table('mine').select('id');
      await db.ddl(db.sql`comment on table ${db.own('mine')} is 'seen'`);
    } finally {
      observeStatements(undefined);
    }
    expect(seen.map(({ kind, text }) => [kind, text])).to.deep.equal([
      ['query', 'select  sql_of_another_plugin  from "public"."mine"'],
      ['query', 'select "id" from "public"."mine"'],
      ['ddl', `comment on table "public"."mine" is 'seen'`],
    ]);
  });

  const refused: readonly [what: string, run: () => unknown, refusal: string][] = [
    ['a handle of a table that is not granted', () => db.read('secrets'), 'use the table secrets'],
    ['a handle to write a table that is read', () => db.write('theirs'), 'write to the table theirs'],
    ['a handle to change a table that is written', () => db.own('shared'), 'change the table shared'],
    ['a handle to read a table that is watched', () => db.read('watched'), 'use the table watched'],
    ['a handle to watch a table that is written', () => db.watch('shared'), 'put a trigger on the table shared'],
    ...(
      [
        ['insert', () => db.sql`insert into ${db.read('mine')} values (1)`],
        ['update', () => db.sql`update only ${db.read('mine')} set id = 1`],
        ['delete', () => db.sql`with gone as (delete from ${db.read('mine')} returning 1) select 1 from gone`],
        ['merge', () => db.sql`merge into /* a comment */ ${db.read('mine')} using ${db.read('mine')} x on true`],
        ['statement in two parts', () => db.sql`${db.sql`insert into `}${db.read('mine')} values (1)`],
      ] as const
    )
      .map(([what, run]) => [`a read handle as the target of ${what}`, run, 'write to the table mine by a'] as const)
      .map((one): [string, () => unknown, string] => [...one]),
    [
      'a written table in a change of tables',
      () => db.sql`drop table ${db.write('shared')}`,
      'change the table shared',
    ],
    ['a watched table in a query', () => db.sql`select 1 from ${db.watch('watched')}`, 'use the table watched by a'],
    [
      'the handle of another plugin',
      () => db.sql`select 1 from ${other.read('mine')}`,
      'interpolate anything but its own',
    ],
    ['a statement of another plugin', () => db.query(other.sql`select 1`), 'run a statement that it did not create'],
    [
      'a part of a statement of another plugin',
      () => db.sql`select ${other.sql`1`}`,
      'interpolate anything but its own',
    ],
    ['an object that looks like a statement', () => db.query({ text: 'select 1' }), 'run a statement that it did not'],
    ['a copy of a statement', () => db.query({ ...db.sql`select 1` }), 'run a statement that it did not create'],
    [
      'an object that looks like a handle',
      () => db.sql`select 1 from ${{ ...db.read('mine'), toString: () => 'secrets' }}`,
      'interpolate anything but its own',
    ],
    ['a text in a statement', () => db.sql`select 1 from ${'secrets' as never}`, 'interpolate anything but its own'],
    [
      'a list of texts instead of a template',
      () => db.sql(['select 1'] as never),
      'create a statement without the template',
    ],
    ['text of any kind', () => db.raw('select 1'), 'run any statement'],
    [
      'changes of tables without a table to change',
      () => unrestricted.ddl(unrestricted.sql`create table x ()`),
      'change tables',
    ],
  ];
  for (const [what, run, refusal] of refused) {
    it(`db denies ${what}`, async () => {
      const failed = await captureError<Error & { code: string }>(async () => run());
      expect(failed.code).to.equal('CAPABILITY_DENIED');
      expect(failed.message).to.match(/^\w+ may not .+: its manifest does not grant it \(database\)$/);
      expect(failed.message).to.contain(`may not ${refusal}`);
    });
  }
});
