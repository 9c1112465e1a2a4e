import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FILE = '11111111-1111-4111-8111-111111111111';

/** Names that an earlier version gave to tables, triggers, functions, indexes and constraints. */
const FORMER = 'loose|let_go|storage_places|standing';

describe('a database whose tables and triggers have the names of an earlier version', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService | undefined;

  before(async () => {
    database = await freshDatabase('former_names');
    await runSqlFile(database.url, new URL('../data/before-renames.sql', import.meta.url));
    await database.query(
      `insert into platform_revisions (activity, collection, item, data, delta) values
        (1, 'note', '1', '{"id": 1, "title": "new"}', '{"id": 1, "title": "new"}'), (2, 'note', '1', '{"id": 1, "title": "later"}', '{"title": "later"}')`,
    );
    // Without users the service creates the first admin at its start, and the test needs this admin.
    await database.query('delete from platform_users');
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const formerNames = async () =>
    (
      await database.query<{ name: string }>(
        `select relname as name from pg_class where relname ~ $1 union select tgname from pg_trigger where tgname ~ $1
        union select proname from pg_proc where proname ~ $1 union select conname from pg_constraint where conname ~ $1 order by 1`,
        [FORMER],
      )
    ).map(({ name }) => name);

  it('its tables and triggers are renamed at the start, and their rows stay', async () => {
    expect(await formerNames(), 'before').to.include.members(['platform_loose_objects', 'platform_files_let_go']);
    service = await startService({ database, env: { SECRET: 'a-secret-of-thirty-two-characters' } });
    expect(await formerNames()).to.deep.equal([]);
    expect(await database.query('select storage, name from platform_orphaned_objects')).to.deep.include({
      storage: 'elsewhere',
      name: 'left-behind.txt',
    });
  });

  it('its identifiers of users become unique within their provider', async () => {
    const indexes = await database.query<{ name: string }>(
      "select indexname as name from pg_indexes where tablename = 'platform_users' and indexname like '%external_identifier%'",
    );
    expect(indexes).to.deep.equal([{ name: 'platform_users_provider_external_identifier_unique' }]);
  });

  it('its triggers work under their new names: a deleted file row leaves an orphaned object', async () => {
    await database.query('delete from platform_files where id = $1', [FILE]);
    await until(async () => {
      const rows = await database.query('select from platform_orphaned_objects where name = $1', [`${FILE}.txt`]);
      // The janitor removes the entry of the orphaned object, although the object does not exist.
      return rows.length === 0;
    });
    const triggers = await database.query<{ name: string }>(
      `select tgname as name from pg_trigger where tgname like 'platform_files_orphan%' or tgname like 'platform_user_status%' order by 1`,
    );
    expect(triggers.map(({ name }) => name)).to.deep.equal([
      'platform_files_orphan_delete',
      'platform_files_orphan_truncate',
      'platform_files_orphan_update',
      'platform_user_status_changed',
    ]);
  });

  it('its revisions, which were stored as jsonb, are answered as before', async () => {
    const { admin, request } = service as InProcessService;
    const { body } = await request('GET', '/revisions?filter[collection]=note&sort=id&fields=data,delta', {
      token: admin.token,
    });
    expect(body.data).to.deep.equal([
      { data: { id: 1, title: 'new' }, delta: { id: 1, title: 'new' } },
      { data: { id: 1, title: 'later' }, delta: { title: 'later' } },
    ]);
    expect(await columnTypes(database)).to.deep.equal(['json', 'json']);
  });

  it('no former name is there after a second start', async () => {
    await service?.stop();
    service = await startService({ database, env: { SECRET: 'a-secret-of-thirty-two-characters' } });
    expect(await formerNames()).to.deep.equal([]);
  });
});

describe('a database whose administrator made an index of the jsonb of revisions', function () {
  this.timeout(120_000);

  it('the start names the index and the remedy, changes nothing, and succeeds once the index is dropped', async () => {
    const database = await freshDatabase('revisions_index');
    try {
      await runSqlFile(database.url, new URL('../data/before-renames.sql', import.meta.url));
      await database.query('delete from platform_users');
      await database.query('create index by_values on platform_revisions using gin (data)');
      const settings = { database, env: { SECRET: 'a-secret-of-thirty-two-characters' } };
      const failure = await startService(settings).then(
        () => undefined,
        (error) => error,
      );
      expect(failure.phase).to.equal('migrate');
      expect(failure.remedy).to.contain('drop what depends on data or delta of platform_revisions');
      expect(await columnTypes(database)).to.deep.equal(['jsonb', 'jsonb']);
      await database.query('drop index by_values');
      await (await startService(settings)).stop();
      expect(await columnTypes(database)).to.deep.equal(['json', 'json']);
    } finally {
      await database.drop();
    }
  });
});

const columnTypes = async (database: FreshDatabase) =>
  (
    await database.query<{ type: string }>(
      `select data_type as type from information_schema.columns
      where table_name = 'platform_revisions' and column_name in ('data', 'delta') order by column_name`,
    )
  ).map(({ type }) => type);
