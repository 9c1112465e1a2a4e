import { expect } from 'chai';
import { createUserWithPermissions } from '../../http/test-users.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { errorsOf, importFile } from './import-form.ts';

describe('POST /utils/import/<collection>', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('import');
    await database.query('create table author (id serial primary key, name text not null)');
    await database.query(`create table article (id serial primary key, title varchar(20) not null, slug text unique,
      price numeric(10,2), views int, ok boolean, data json, tags text[], day date, at timestamptz,
      author int references author)`);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });
  beforeEach(async () => {
    await database.query('truncate article, author restart identity cascade');
    await database.query('delete from platform_activity');
  });

  const articles = () => database.query('select * from article order by id');

  it('answers 200 without a body and creates the rows of a CSV file by the types of the fields', async () => {
    const reply = await importFile(
      service,
      'article',
      'title,slug,price,views,ok,data,tags,day,at\n"a, ""b""",007,12.50,3,true,"{""n"":[1]}","[""x"",""y""]",2026-01-02,2026-01-02T03:04:05Z\ntrue,null,,,,,,,\n',
    );
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    expect(reply.body).to.equal(undefined);
    const [first, second] = await articles();
    expect(first).to.include({ title: 'a, "b"', slug: '007', price: '12.50', views: 3, ok: true });
    expect(first?.data).to.deep.equal({ n: [1] });
    expect(first?.tags).to.deep.equal(['x', 'y']);
    expect((first as { at: Date }).at.toISOString()).to.equal('2026-01-02T03:04:05.000Z');
    expect(second).to.include({ title: 'true', slug: null, price: null, views: null, ok: null });
  });

  it('updates rows whose key exists and creates the others, with activity and revisions', async () => {
    await database.query(`insert into article (id, title, views) values (5, 'old', 7)`);
    const rows = [{ id: 5, title: 'new' }, { id: 6, title: 'six' }, { title: 'no key' }, { id: 6, title: 'again' }];
    await database.query(`select setval('article_id_seq', 100)`);
    const reply = await importFile(service, 'article', JSON.stringify(rows), 'application/json');
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    expect((await articles()).map(({ id, title, views }) => [id, title, views])).to.deep.equal([
      [5, 'new', 7],
      [6, 'again', null],
      [101, 'no key', null],
    ]);
    const activity = await database.query(
      `select action, count(*)::int from platform_activity where collection = 'article' group by 1 order by 1`,
    );
    expect(activity).to.deep.equal([
      { action: 'create', count: 2 },
      { action: 'update', count: 2 },
    ]);
  });

  it('nests dotted columns of a CSV file and objects of a JSON file', async () => {
    expect((await importFile(service, 'article', 'title,author.name\nt,Ann\n')).status).to.equal(200);
    const json = JSON.stringify([{ title: 'u', author: { name: 'Bea' } }]);
    expect((await importFile(service, 'article', json, 'application/json')).status).to.equal(200);
    const names = await database.query(
      'select name from article join author on author.id = author order by article.id',
    );
    expect(names).to.deep.equal([{ name: 'Ann' }, { name: 'Bea' }]);
  });

  it('reports the errors of all rows with their numbers and writes nothing', async () => {
    const reply = await importFile(
      service,
      'article',
      'title,slug,price,author\nfine,a,1,\n,b,1,\n"two\nlines, and far too long",c,1,\nok,a,1,\nok,e,word,\nok,f,1,77\n',
    );
    expect(reply.status).to.equal(400);
    expect(errorsOf(reply)).to.deep.equal([
      { code: 'FAILED_VALIDATION', row: 2, line: 3, field: 'title' },
      { code: 'VALUE_TOO_LONG', row: 3, line: 4, field: 'title' },
      { code: 'RECORD_NOT_UNIQUE', row: 4, line: 6, field: 'slug' },
      { code: 'INVALID_PAYLOAD', row: 5, line: 7, field: 'price' },
      { code: 'INVALID_FOREIGN_KEY', row: 6, line: 8, field: 'author' },
    ]);
    expect(reply.body.errors[4].extensions.path).to.deep.equal([5, 'author']);
    expect(await articles()).to.deep.equal([]);
    expect(
      await database.query(
        `select 1 from platform_activity where collection = 'article' and item = '1' and action = 'create' limit 0`,
      ),
    ).to.deep.equal([]);
  });

  it('accepts a byte-order mark, UTF-16, a declared charset, CRLF, semicolons and blank lines', async () => {
    const contents: [Uint8Array<ArrayBuffer>, string][] = [
      [Buffer.from('\ufefftitle\r\nä\r\n\r\n'), 'text/csv'],
      [Buffer.from('\ufefftitle\nä', 'utf16le'), 'application/vnd.ms-excel'],
      [Buffer.from('title\nä', 'latin1'), 'text/csv; charset=iso-8859-1'],
      [Buffer.from('title;slug\nä;x,y\n'), 'text/csv;charset=UTF-8'],
      [Buffer.from('\ufeff[{"title":"ä"}]', 'utf16le'), 'application/json'],
    ];
    for (const [content, type] of contents) {
      await database.query('truncate article');
      const reply = await importFile(service, 'article', content, type);
      expect(reply.status, `${type} ${JSON.stringify(reply.body)}`).to.equal(200);
      expect((await articles()).map(({ title }) => title)).to.deep.equal(['ä']);
    }
  });

  const malformed: Record<string, [string | Uint8Array<ArrayBuffer>, string]> = {
    'an open quote': ['title\na\n"b\n', 'text/csv'],
    'a quote inside of a cell': ['title\na\nb"c"\n', 'text/csv'],
    'more cells than columns': ['title\na\nb,c\n', 'text/csv'],
    'fewer cells than columns': ['title,slug\na,b\nc\n', 'text/csv'],
    'a repeated column': ['title,title\na,b\n', 'text/csv'],
    'a NUL character': ['title\na\nb\0c\n', 'text/csv'],
    'bytes that are no text': [Buffer.from([0x74, 0x0a, 0xff, 0xfe, 0xfd]), 'text/csv'],
    'an object in place of a list': ['{"title":"a"}', 'application/json'],
    'an empty JSON file': [' ', 'application/json'],
    'a truncated list': ['[{"title":"a"},{"title":"b"', 'application/json'],
    'a list without an end': ['[{"title":"a"}', 'application/json'],
    'a trailing comma': ['[{"title":"a"},]', 'application/json'],
    'text behind the list': ['[{"title":"a"}] x', 'application/json'],
    'an element that is no object': ['[{"title":"a"},7,[1],null]', 'application/json'],
    'an element that is no JSON': ['[{"title":"a"},{title:"b"}]', 'application/json'],
    'a NUL character in JSON': ['[{"title":"a\\u0000"}]', 'application/json'],
    'a key that is no key': ['[{"id":"x","title":"b"}]', 'application/json'],
    'an unknown field': ['[{"title":"a","titel":"b"}]', 'application/json'],
  };
  for (const [what, [content, type]] of Object.entries(malformed)) {
    it(`refuses ${what} with INVALID_PAYLOAD and the row, and writes nothing`, async () => {
      const reply = await importFile(service, 'article', content, type);
      expect(reply.status).to.equal(400);
      for (const { code, row } of errorsOf(reply)) {
        expect(code).to.equal('INVALID_PAYLOAD');
        expect(row).to.be.a('number');
      }
      expect(await articles()).to.deep.equal([]);
    });
  }

  it('reports the errors before a malformed place of a CSV file, with its row and line', async () => {
    const reply = await importFile(service, 'article', 'title,slug\na,1\n\n,2\nc,"3\nd,4\n');
    expect(errorsOf(reply)).to.deep.equal([
      { code: 'FAILED_VALIDATION', row: 2, line: 4, field: 'title' },
      { code: 'INVALID_PAYLOAD', row: 3, line: 5, field: undefined },
    ]);
  });

  it('accepts files without rows', async () => {
    for (const [content, type] of [
      ['', 'text/csv'],
      ['title\n', 'text/csv'],
      ['[]', 'application/json'],
    ])
      expect((await importFile(service, 'article', content as string, type)).status).to.equal(200);
  });

  it('refuses other types with 415, no form with 415, and a form without a file with INVALID_PAYLOAD', async () => {
    const other = await importFile(service, 'article', 'title: a', 'application/yaml');
    expect([other.status, errorsOf(other)[0].code]).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const { token } = service.admin;
    const noForm = await service.request('POST', '/utils/import/article', { token, body: [{ title: 'a' }] });
    expect(noForm.status).to.equal(415);
    const form = new FormData();
    form.append('title', 'a');
    const noFile = await service.request('POST', '/utils/import/article', { token, body: form });
    expect([noFile.status, errorsOf(noFile)[0].code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('needs permission to create and to update, and applies field lists, presets and row rules', async () => {
    const create = {
      collection: 'article',
      action: 'create',
      fields: ['title', 'id'],
      presets: { slug: 'preset' },
    } as const;
    const update = {
      collection: 'article',
      action: 'update',
      fields: ['title'],
      permissions: { views: { _eq: 1 } },
    } as const;
    const creator = await createUserWithPermissions(service, [create]);
    const both = await createUserWithPermissions(service, [create, update]);
    for (const token of [null, creator.token]) {
      const reply = await importFile(service, 'article', 'title\na\n', 'text/csv', token);
      expect([reply.status, errorsOf(reply)[0].code]).to.deep.equal([403, 'FORBIDDEN']);
    }
    expect((await importFile(service, 'article', 'title\na\n', 'text/csv', both.token)).status).to.equal(200);
    expect((await articles())[0]).to.include({ title: 'a', slug: 'preset' });
    await database.query(`insert into article (id, title, views) values (50, 'mine', 1), (51, 'other', 2)`);
    const refused = await importFile(service, 'article', 'id,title\n50,x\n51,y\n', 'text/csv', both.token);
    expect([refused.status, errorsOf(refused)]).to.deep.equal([
      403,
      [{ code: 'FORBIDDEN', row: 2, line: 3, field: undefined }],
    ]);
    const field = await importFile(service, 'article', 'title,price\nx,1\n', 'text/csv', both.token);
    expect([field.status, errorsOf(field)[0].row]).to.deep.equal([403, 1]);
    expect(await database.query(`select 1 from article where title in ('x', 'y')`)).to.deep.equal([]);
  });

  it('answers an unknown collection with FORBIDDEN, for an admin with ROUTE_NOT_FOUND', async () => {
    const user = await createUserWithPermissions(service, []);
    expect((await importFile(service, 'nothing', 'a\n1\n', 'text/csv', user.token)).status).to.equal(403);
    expect((await importFile(service, 'nothing', 'a\n1\n')).status).to.equal(404);
  });

  it('imports into system collections for admins only, and never into the history', async () => {
    const grants = (['create', 'update'] as const).map((action) => ({ collection: 'platform_folders', action }));
    const user = await createUserWithPermissions(service, grants);
    expect((await importFile(service, 'platform_folders', 'name\na\n', 'text/csv', user.token)).status).to.equal(403);
    expect((await importFile(service, 'platform_folders', 'name\na\n')).status).to.equal(200);
    expect((await importFile(service, 'platform_activity', 'action\na\n')).status).to.equal(403);
  });
});
