import { expect } from 'chai';
import pg from 'pg';
import { parse } from 'yaml';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from '../../http/test-users.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

interface ExportedFile {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly filename_download: string;
  readonly uploaded_by: string | null;
  readonly folder: string | null;
}

describe('POST /utils/export/<collection>', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let reader: TestUserWithToken;
  before(async () => {
    database = await createMigratedDatabase('export_jobs');
    await database.query('create table author (id serial primary key, name text)');
    await database.query(
      'create table article (id serial primary key, title text, secret text, author int references author)',
    );
    await database.query(`insert into author (name) values ('Ann'), ('Bea')`);
    await database.query(
      `insert into article (title, secret, author) select 'title ' || n, 's', 1 + n % 2 from generate_series(1, 300) n`,
    );
    service = await startService({
      database,
      env: { QUERY_LIMIT_MAX: '5', QUERY_LIMIT_DEFAULT: '3', DATA_EXPORT_MAX_CONCURRENCY: '1' },
    });
    await requestAsAdmin(service, 'POST', '/fields/author', {
      field: 'articles',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/article/author', { meta: { one_field: 'articles' } });
    reader = await createUserWithPermissions(service, [
      { collection: 'article', action: 'read', fields: ['id', 'title'], permissions: { id: { _lte: 10 } } },
      { collection: 'platform_files', action: 'create' },
      { collection: 'platform_files', action: 'read' },
    ]);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const start = (body: unknown, token: string | null = service.admin.token, collection = 'article') =>
    service.request('POST', `/utils/export/${collection}`, { token, body });

  const files = () =>
    database.query<ExportedFile>('select id, type, title, filename_download, uploaded_by, folder from platform_files');

  const notices = () =>
    database.query<{
      recipient: string;
      subject: string;
      message: string;
      collection: string | null;
      item: string | null;
    }>('select recipient, subject, message, collection, item from platform_notifications order by id');

  /** Waits for the one file of an export, and reads it. */
  async function exported(body: unknown, token?: string, collection?: string) {
    await database.query('delete from platform_files');
    await database.query('delete from platform_notifications');
    const reply = await start(body, token, collection);
    expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
    const [file] = await until(async () => {
      const found = await files();
      return found.length > 0 && found;
    });
    if (!file) throw new Error('no file');
    const asset = await fetch(`${service.url}/assets/${file.id}`, {
      headers: { authorization: `Bearer ${token ?? service.admin.token}` },
    });
    expect(asset.status).to.equal(200);
    return { file, text: await asset.text() };
  }

  it('answers 204 and stores all rows as a file of the caller, with a notification', async () => {
    const [folder] = await database.query<{ id: string }>(
      `insert into platform_folders (id, name) values (gen_random_uuid(), 'exports') returning id`,
    );
    const { file, text } = await exported({
      query: { fields: ['id', 'title', 'author.name'], sort: ['id'] },
      format: 'csv',
      file: { folder: folder?.id, title: 'All articles' },
    });
    const lines = text.trim().split('\n');
    expect(lines).to.have.length(301);
    expect(lines.slice(0, 2)).to.deep.equal(['"id","title","author.name"', '1,"title 1","Bea"']);
    const [admin] = await database.query<{ id: string }>('select id from platform_users where email = $1', [
      service.admin.email,
    ]);
    expect(file).to.include({ type: 'text/csv', title: 'All articles', folder: folder?.id, uploaded_by: admin?.id });
    expect(file.filename_download).to.match(/^article \d{8}-\d{6}\.csv$/);
    expect(await notices()).to.deep.equal([
      {
        recipient: admin?.id,
        subject: 'Your export of article is ready',
        message: `The rows of article are in the file ${file.id}.`,
        collection: 'platform_files',
        item: file.id,
      },
    ]);
  });

  it('exports JSON, XML and YAML', async () => {
    const query = { fields: ['id', 'title'], sort: ['-id'], limit: 2 };
    const rows = [
      { id: 300, title: 'title 300' },
      { id: 299, title: 'title 299' },
    ];
    expect(JSON.parse((await exported({ query, format: 'json' })).text)).to.deep.equal(rows);
    expect(parse((await exported({ query, format: 'yaml' })).text)).to.deep.equal(rows);
    const { text, file } = await exported({ query, format: 'xml' });
    expect(text).to.include('<data>\n\t<data>\n\t\t<id>300</id>\n\t\t<title>title 300</title>\n\t</data>');
    expect(file.type).to.equal('text/xml');
  });

  it('exempts the limit from QUERY_LIMIT_MAX: -1, null and none are all rows, and a larger one is honoured', async () => {
    const count = async (limit: unknown) =>
      JSON.parse((await exported({ query: { fields: 'id', limit }, format: 'json' })).text).length;
    expect(await count(-1)).to.equal(300);
    expect(await count(null)).to.equal(300);
    expect(await count(undefined)).to.equal(300);
    expect(await count(7)).to.equal(7);
  });

  it('exports an empty list as [] and an empty CSV file for the limit 0', async () => {
    expect((await exported({ query: { limit: 0 }, format: 'json' })).text).to.equal('[]');
    expect((await exported({ query: { limit: 0 }, format: 'csv' })).text).to.equal('');
  });

  it('refuses other limits, nested limits above QUERY_LIMIT_MAX and unknown operators with INVALID_QUERY', async () => {
    const queries = [
      ...[-2, 1.5, '7', 'all', true, {}, [], 1e300].map((limit) => ({ limit })),
      { fields: ['*', 'articles.*'], deep: { articles: { _limit: 6 } } },
      { filter: { id: { _nothing: 1 } } },
    ];
    for (const query of queries) {
      const collection = 'deep' in query ? 'author' : 'article';
      const reply = await start({ query, format: 'json' }, undefined, collection);
      expect([reply.status, reply.body.errors[0].extensions.code], JSON.stringify(query)).to.deep.equal([
        400,
        'INVALID_QUERY',
      ]);
    }
    const nested = { fields: ['*', 'articles.*'], deep: { articles: { _limit: 2 } } };
    const { text } = await exported({ query: nested, format: 'json' }, undefined, 'author');
    expect(JSON.parse(text).map(({ articles }: { articles: unknown[] }) => articles.length)).to.deep.equal([2, 2]);
  });

  it('refuses a body without query or format, or with a wrong one, with INVALID_PAYLOAD and the path', async () => {
    const bodies: [unknown, string][] = [
      [{ format: 'csv' }, 'query'],
      [{ query: 'x', format: 'csv' }, 'query'],
      [{ query: {} }, 'format'],
      [{ query: {}, format: 'pdf' }, 'format'],
      [{ query: {}, format: 'csv', file: 'x' }, 'file'],
    ];
    for (const [body, path] of bodies) {
      const reply = await start(body);
      const { code, path: found } = reply.body.errors[0].extensions;
      expect([reply.status, code, found]).to.deep.equal([400, 'INVALID_PAYLOAD', [path]]);
    }
  });

  it('exports the rows and fields that the caller may read', async () => {
    const { text, file } = await exported({ query: { sort: ['id'] }, format: 'json' }, reader.token);
    const rows = JSON.parse(text);
    expect(rows).to.have.length(10);
    expect(Object.keys(rows[0])).to.deep.equal(['id', 'title']);
    expect(file.uploaded_by).to.equal(reader.id);
    expect((await notices())[0]?.recipient).to.equal(reader.id);
  });

  it('refuses a caller without permission to read the collection or to create files, and hidden fields in the query', async () => {
    const onlyRead = await createUserWithPermissions(service, [{ collection: 'article', action: 'read' }]);
    const onlyFiles = await createUserWithPermissions(service, [{ collection: 'platform_files', action: 'create' }]);
    for (const token of [onlyRead.token, onlyFiles.token, null]) {
      const reply = await start({ query: {}, format: 'csv' }, token);
      expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([403, 'FORBIDDEN']);
    }
    const hidden = await start({ query: { filter: { secret: 's' } }, format: 'csv' }, reader.token);
    expect(hidden.status).to.equal(403);
  });

  it('exports groups', async () => {
    const query = { aggregate: { count: '*' }, groupBy: ['author'], sort: ['author'] };
    expect((await exported({ query, format: 'csv' })).text).to.equal('"author","count"\n1,150\n2,150\n');
  });

  it('applies the permissions of the moment in which it runs, and notifies the user of an export that fails', async () => {
    const user = await createUserWithPermissions(service, [
      { collection: 'article', action: 'read' },
      { collection: 'platform_files', action: 'create' },
    ]);
    const gate = new pg.Client(database.url);
    await gate.connect();
    try {
      await database.query('delete from platform_files');
      await database.query('delete from platform_notifications');
      // The only place for exports is taken by one that waits for the table, so that the next one begins later.
      await gate.query('begin; lock table article in access exclusive mode');
      expect((await start({ query: {}, format: 'csv' })).status).to.equal(204);
      await until(async () => (await database.query('select 1 from pg_locks where not granted')).length > 0);
      expect((await start({ query: {}, format: 'csv' }, user.token)).status).to.equal(204);
      const own = { role: { _eq: user.role }, collection: { _eq: 'article' } };
      await requestAsAdmin(service, 'DELETE', '/permissions', { query: { filter: own } });
      await gate.query('commit');
      await until(async () => (await notices()).length === 2);
      const failed = (await notices()).find(({ recipient }) => recipient === user.id);
      expect(failed).to.deep.equal({
        recipient: user.id,
        subject: 'Your export of article failed',
        message: "You don't have permission to access this.",
        collection: null,
        item: null,
      });
      expect(await files()).to.have.length(1);
    } finally {
      await gate.end();
    }
  });
});
