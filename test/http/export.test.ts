import { expect } from 'chai';
import { parse } from 'yaml';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

describe('GET /items/<collection>?export', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('export');
    await database.query('create table author (id serial primary key, name text)');
    await database.query(
      `create table article (id serial primary key, title text, price numeric(20,2), ok boolean, data json,
        author int references author, size bigint)`,
    );
    await database.query(`insert into author (name) values ('Ann "A" Lee'), (null)`);
    await database.query(`insert into article (title, price, ok, data, author, size) values
      (E'two\\nlines, and "quotes"', 12.50, true, '{"n": 12345678901234567890, "f": 1.50, "<k>&": [1, {"é": null}]}', 1, 9007199254740993),
      ('=1+1', null, false, '[]', 2, null), ('', null, null, null, null, 3)`);
    await database.query('create table many (id int primary key, name text)');
    await database.query(`insert into many select n, 'n' || n from generate_series(1, 4000) n`);
    service = await startService({ database });
    await requestAsAdmin(service, 'POST', '/fields/author', {
      field: 'articles',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/article/author', { meta: { one_field: 'articles' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const download = async (path: string, method = 'GET', body?: unknown) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${service.admin.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('answers a download whose name has the collection and the time', async () => {
    for (const [format, type] of Object.entries({
      csv: 'text/csv',
      csv_utf8: 'text/csv; charset=utf-8',
      json: 'application/json; charset=utf-8',
      xml: 'text/xml; charset=utf-8',
      yaml: 'text/yaml; charset=utf-8',
    })) {
      const { status, headers } = await download(`/items/author?export=${format}`);
      expect([status, headers.get('content-type')]).to.deep.equal([200, type]);
      const name = new RegExp(`^attachment; filename="author \\d{8}-\\d{6}\\.${format.replace('_utf8', '')}"$`);
      expect(headers.get('content-disposition')).to.match(name);
      expect(headers.get('cache-control')).to.equal('no-cache');
    }
  });

  it('renders CSV with a header, flattened to-one rows, and JSON in cells', async () => {
    const { text } = await download('/items/article?export=csv&sort=id&fields=id,title,price,ok,data,author.name,size');
    expect(text).to.equal(
      [
        '"id","title","price","ok","data","author.name","size"',
        '1,"two\nlines, and ""quotes""","12.50",true,"{""n"":12345678901234567890,""f"":1.50,""<k>&"":[1,{""é"":null}]}","Ann ""A"" Lee","9007199254740993"',
        '2,"=1+1",,false,"[]",,',
        '3,"",,,,,"3"',
        '',
      ].join('\n'),
    );
  });

  it('renders JSON, YAML and XML of the same rows', async () => {
    const query = 'sort=id&fields=id,title,data,author.name,author.articles.id&limit=2';
    const json = (await download(`/items/article?${query}&export=json`)).text;
    const { body } = await service.request('GET', `/items/article?${query}`, { token: service.admin.token });
    expect(JSON.parse(json)).to.deep.equal(body.data);
    expect(json.startsWith('[\n\t{\n\t\t"id": 1,\n')).to.equal(true);
    expect(json).to.contain('12345678901234567890').and.to.contain('"f": 1.50');
    const yaml = (await download(`/items/article?${query}&export=yaml`)).text;
    expect(parse(yaml)).to.deep.equal(body.data);
    expect(yaml).to.contain('12345678901234567890');
    const xml = (await download(`/items/article?${query}&export=xml`)).text;
    expect(xml).to.equal(`<?xml version="1.0" encoding="UTF-8"?>
<data>
	<data>
		<id>1</id>
		<title>two
lines, and "quotes"</title>
		<data>
			<n>12345678901234567890</n>
			<f>1.50</f>
			<_k__>1</_k__>
			<_k__>
				<é/>
			</_k__>
		</data>
		<author>
			<name>Ann "A" Lee</name>
			<articles>
				<id>1</id>
			</articles>
		</author>
	</data>
	<data>
		<id>2</id>
		<title>=1+1</title>
		<author>
			<name/>
			<articles>
				<id>2</id>
			</articles>
		</author>
	</data>
</data>
`);
  });

  it('exports all rows of a long read in each format', async () => {
    const rows = async (format: string) => (await download(`/items/many?limit=-1&export=${format}`)).text;
    expect((await rows('csv')).trimEnd().split('\n')).to.have.length(4001);
    expect(JSON.parse(await rows('json'))).to.have.length(4000);
    expect(parse(await rows('yaml'))).to.have.length(4000);
    expect((await rows('xml')).match(/<id>/g)).to.have.length(4000);
  });

  it('answers a file without rows where the query finds none', async () => {
    const nothing = async (format: string) => (await download(`/items/many?limit=0&export=${format}`)).text;
    expect(await nothing('csv')).to.equal('');
    expect(await nothing('json')).to.equal('[]');
    expect(parse(await nothing('yaml'))).to.deep.equal([]);
    expect(await nothing('xml')).to.equal('<?xml version="1.0" encoding="UTF-8"?>\n<data/>\n');
  });

  it('exports groups, rows by key, results of SEARCH and system collections', async () => {
    const groups = await download('/items/article?export=csv&aggregate[count]=id&groupBy=author&sort=author');
    expect(groups.text.split('\n').slice(0, 2)).to.deep.equal(['"author","count.id"', '1,1']);
    const search = await download('/items/many', 'SEARCH', { query: { export: 'csv', fields: ['id'] }, keys: [7, 3] });
    expect(search.text).to.equal('"id"\n7\n3\n');
    const users = await download('/users?export=csv&fields=email,password');
    expect(users.text).to.equal(`"email","password"\n"${service.admin.email}","**********"\n`);
  });

  it('applies the permissions and limits of the read', async () => {
    expect((await service.request('GET', '/items/many?export=csv')).status).to.equal(403);
    expect((await download('/items/many?export=csv')).text.trimEnd().split('\n')).to.have.length(101);
  });

  it('rejects an unknown format with INVALID_QUERY', async () => {
    for (const [method, path, body] of [
      ['GET', '/items/many?export=exe', undefined],
      ['GET', '/users?export=', undefined],
      ['SEARCH', '/items/many', { query: { export: ['csv'] } }],
    ] as const) {
      const { status, text } = await download(path, method, body);
      expect([status, JSON.parse(text).errors[0].extensions]).to.deep.equal([
        400,
        {
          code: 'INVALID_QUERY',
          path: ['export'],
          reason: 'export: there is no such format; there are csv, csv_utf8, json, xml, yaml',
        },
      ]);
    }
  });
});
