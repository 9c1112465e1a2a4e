import { expect } from 'chai';
import { broker, type PackageGrantBroker, type PackageHandle } from '../../../plugins/broker/contract.ts';
import type { Db } from '../../../plugins/database/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { collectAll, createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

describe('statements of third-party plugins', () => {
  let testKernel: TestKernel;
  let guest: PackageHandle;
  let db: Db;
  let unrestricted: Db;
  before(async () => {
    let subjects: PackageGrantBroker | undefined;
    testKernel = await startTestKernel([
      createPluginWithDatabaseGrant({ sql: 'tests run any statement' }, (host) => void (unrestricted = host.db)),
      {
        name: 'runner',
        manifest: { uses: { broker: '^1.0.0' } },
        register: (host) => void (subjects = host.use({ broker }).broker),
      },
    ]);
    for (const table of ['mine', 'theirs', 'shared', 'secrets'])
      await testKernel.database.query(`create table ${table} (id int, name text)`);
    guest = (subjects as PackageGrantBroker).register({
      name: 'guest',
      version: '1.0.0',
      runtime: 'full',
      grants: { database: { own: ['mine', 'scratch'], read: ['theirs'], write: ['shared'] } },
    });
    db = guest.get<Db>('database');
  });
  after(async () => {
    guest?.remove();
    await testKernel?.stop();
  });

  it('a statement that names granted tables only runs', async () => {
    const [mine, theirs, shared] = [db.write('mine'), db.read('theirs'), db.write('shared')];
    const WRITE = db.sql`with theirs as (select 1 as id), more as (insert into ${shared} select id from theirs returning id)
      insert into ${mine} (id) select id from more union all select id from ${theirs}`;
    expect((await db.query(WRITE)).count).to.equal(1);
    expect((await db.query(WRITE)).count).to.equal(1);
    const NAMES = db.sql`select count(*)::text from ${mine}`;
    expect(await db.first(NAMES)).to.deep.equal(['2']);
    expect(await collectAll(db.stream(NAMES))).to.deep.equal([['2']]);
    expect(await db.table('mine').where({ id: 1 }).pluck('id')).to.deep.equal([1, 1]);
  });

  it('a statement takes a condition of another plugin in the place of an expression only', async () => {
    const condition = unrestricted.raw(`name is distinct from 'secrets' and not exists (select from secrets)`);
    const mine = db.read('mine');
    await db.query(db.sql`select 1 from ${mine} where ${condition}`);
    for (const hidden of [
      db.sql`select 'x ${condition} ' from ${mine}`,
      db.sql`select 1 /* ${condition} */ from ${mine}`,
      db.sql`select '${condition}', 1 from ${mine} where sql_of_another_plugin`,
    ]) {
      const failed = await captureError(db.query(hidden));
      expect(failed.message).to.contain('interpolate the text of another plugin outside the place of an expression');
    }
  });

  it('db.ddl creates and alters own tables of a third-party plugin', async () => {
    const scratch = db.own('scratch');
    await db.ddl(db.sql`create table ${scratch} (id int primary key, other int)`);
    await db.ddl(db.sql`alter table ${scratch} add column name text`);
    await db.ddl(db.sql`create index on ${scratch} (name)`);
    await db.ddl(db.sql`drop table ${scratch}`);
  });

  const refused: readonly [what: string, statement: () => Promise<unknown>, refusal: string][] = [
    ['a table in the text', () => db.query(db.sql`select * from secrets`), 'use the table secrets'],
    ['a table by name', () => db.query(db.sql`select * from ${db.name('secrets')}`), 'use the table secrets'],
    ['a table in a sub-query', () => db.query(db.sql`select (select name from secrets)`), 'use the table secrets'],
    ['a table command', () => db.query(db.sql`table secrets`), 'use the table secrets'],
    ['a table when streamed', () => collectAll(db.stream(db.sql`select name from secrets`)), 'use the table secrets'],
    ['a table when its first row is wanted', () => db.first(db.sql`select name from secrets`), 'use the table secrets'],
    [
      'a table outside of the expression that hides it',
      () => db.query(db.sql`select 1 from (with secrets as (select 1) select * from secrets) x, secrets`),
      'use the table secrets',
    ],
    ['writing to a read table', () => db.query(db.sql`insert into theirs values (1)`), 'write to the table theirs'],
    [
      'writing inside of a query',
      () => db.query(db.sql`with x as (delete from theirs returning 1) select 1 from x`),
      'write to the table theirs',
    ],
    [
      'a write whose target an expression hides',
      () => db.query(db.sql`with secrets as (select 1 as id) delete from secrets`),
      'write to the table secrets',
    ],
    ['the catalog', () => db.query(db.sql`select * from pg_authid`), 'use the table pg_authid'],
    ['another schema', () => db.query(db.sql`select * from pg_catalog.pg_class`), 'use the schema pg_catalog'],
    ['two statements', () => db.query(db.sql`select 1; select 2`), 'run 2 statements as one'],
    ['an empty statement', () => db.query(db.sql`-- nothing`), 'run 0 statements as one'],
    ['a text that is not SQL', () => db.query(db.sql`selec 1`), 'run a statement that cannot be parsed'],
    ['changing a table by query', () => db.query(db.sql`drop table ${db.own('mine')}`), 'of the kind DropStmt'],
    ['a change of a setting', () => db.query(db.sql`set role postgres`), 'of the kind VariableSetStmt'],
    ['a DO block', () => db.query(db.sql`do 'begin end'`), 'of the kind DoStmt'],
    ['a copy to a program', () => db.query(db.sql`copy mine to program 'true'`), 'of the kind CopyStmt'],
    ['a new table by select', () => db.query(db.sql`select 1 into fresh`), 'that makes a table'],
    ['a table of another plugin', () => db.ddl(db.sql`drop table secrets`), 'change the table secrets'],
    ['an index by its name', () => db.ddl(db.sql`drop index scratch_index`), 'drop anything but its own tables'],
    [
      'a function',
      () => db.ddl(db.sql`create function f() returns int language sql as 'select 1'`),
      'CreateFunctionStmt',
    ],
    ['rows by ddl', () => db.ddl(db.sql`delete from ${db.write('mine')}`), 'of the kind DeleteStmt'],
    [
      'the trigger of a written table',
      () => db.ddl(db.sql`drop trigger x on shared`),
      'drop anything but its own tables',
    ],
    [
      'a trigger',
      () => db.ddl(db.sql`create trigger x after insert on mine execute function f()`),
      'of the kind CreateTrigStmt',
    ],
    [
      'inheriting from a read table',
      () => db.ddl(db.sql`create table scratch () inherits (theirs)`),
      'change the table theirs',
    ],
    ...[
      `query_to_xml('table secrets', true, true, '')`,
      `table_to_xml('secrets', true, true, '')`,
      `schema_to_xml('public', true, true, '')`,
      `database_to_xml(true, true, '')`,
      `cursor_to_xml('c', 1, true, true, '')`,
      `dblink('', '')`,
      `pg_read_file('/etc/passwd')`,
      `pg_catalog.pg_ls_dir('/')`,
      `lo_import('/etc/passwd')`,
      `set_config('a.b', 'c', false)`,
      `pg_terminate_backend(1)`,
      `pg_cancel_backend(1)`,
      `pg_sleep(1)`,
      `ts_stat('select name::tsvector from secrets')`,
      `setval('s', 1)`,
      `other.anything()`,
    ].map((call): [string, () => Promise<unknown>, string] => [
      call,
      () => db.query(db.sql(createTemplate(`select ${call}`))),
      'call the function',
    ]),
    [
      'a raw part of a builder',
      async () => db.table('mine').select(createRaw(db, '(select 1 from secrets)')),
      'use the table secrets',
    ],
  ];
  for (const [what, run, refusal] of refused) {
    it(`a third-party plugin is denied ${what}`, async () => {
      const failed = await captureError<Error & { code: string }>(run());
      expect(failed.code).to.equal('CAPABILITY_DENIED');
      expect(failed.message).to.contain('guest may not ');
      expect(failed.message).to.contain(refusal);
    });
  }
});

/** The strings array that a tag function gets for a template literal without interpolations. */
const createTemplate = (text: string): TemplateStringsArray =>
  Object.freeze(Object.assign([text], { raw: Object.freeze([text]) }));

const createRaw = (db: Db, text: string) =>
  (db.table('mine') as unknown as { client: { raw(text: string): never } }).client.raw(text);
