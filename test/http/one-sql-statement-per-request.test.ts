import { expect } from 'chai';
import {
  BENCH_SCENARIOS,
  type BenchScenario,
  buildBenchRequest,
  isWriteBenchScenario,
} from '../../scripts/bench/bench-scenarios.ts';
import { createBenchAliasesAndEditor } from '../../scripts/bench/collection-setup.ts';
import { loadBenchData } from '../../scripts/bench/data.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions } from './test-users.ts';

const SCALE = 0.01;

describe('statements per request', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let editor: string;
  before(async () => {
    database = await createMigratedDatabase('one_statement');
    await loadBenchData(database, SCALE);
    await database.query(`
      create table stamped (id serial primary key, name text, price numeric(10,2), at timestamptz);
      create table knot (id int primary key, up int references knot on update cascade);
      insert into knot values (1, 1);
      create function stamp() returns trigger language plpgsql as $$
        begin update stamped set name = name || ' stamped' where id = new.id; return null; end $$;
      create trigger stamp after insert on stamped for each row execute function stamp()`);
    service = await startService({ database });
    editor = await createBenchAliasesAndEditor(service);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  /** The answer that the hand-written SQL statement of the benchmark gives for this request. */
  async function byHand(shape: BenchScenario, n: number): Promise<unknown> {
    const { path, body } = buildBenchRequest(shape, n, SCALE);
    const id = /\/(\d+)\?/.exec(path)?.[1] ?? '';
    const [row] = await database.query<{ data: string; meta?: string }>(
      shape.ideal,
      shape.params?.(id, body as never) ?? [],
    );
    const meta = row?.meta === undefined ? {} : { meta: JSON.parse(row.meta) };
    return { data: JSON.parse(row?.data as string), ...meta };
  }

  for (const shape of BENCH_SCENARIOS.filter((one) => !isWriteBenchScenario(one))) {
    it(`${shape.name} is one statement with the answer of the hand-written one`, async () => {
      const token = shape.as === 'editor' ? editor : service.admin.token;
      const ask = (n: number) => {
        const { method, path, body } = buildBenchRequest(shape, n, SCALE);
        return service.request(method, path, { token, body });
      };
      // The first reads fill caches: permissions, the schema, the user status.
      for (let n = 0; n < 2; n++) {
        const { status, body } = await ask(n);
        expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200);
        expect(body).to.deep.equal(await byHand(shape, n));
      }
      const runs: (readonly string[])[] = [];
      for (let n = 2; n < 5; n++) runs.push(withoutFetches(await recordStatementsDuring(() => ask(n))));
      // A notification from the database may empty a cache in between, so only one of three runs must be a single
      // statement; the read itself is one statement each time.
      const [table] = /(?<=\/items\/)\w+/.exec(shape.path) ?? [];
      for (const texts of runs) {
        expect(
          texts.filter((text) => text.includes(`"${table}"`)),
          texts.join('\n\n'),
        ).to.have.length(1);
      }
      const fewest = runs.toSorted((a, b) => a.length - b.length)[0] ?? [];
      expect(fewest, fewest.join('\n\n')).to.have.length(1);
    });
  }

  const send = async (method: string, path: string, token: string, body?: object) => {
    const response = await fetch(new URL(path, service.url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, text: await response.text() };
  };

  for (const name of ['create one', 'update one']) {
    it(`${name} is one statement with the answer of a read, byte for byte`, async () => {
      const shape = BENCH_SCENARIOS.find((one) => one.name === name) as BenchScenario;
      let written: { readonly status: number; readonly text: string } | undefined;
      const write = async (n: number, query = '') => {
        const { method, path, body } = buildBenchRequest(shape, n, SCALE);
        written = await send(method, path + query, service.admin.token, body as object);
      };
      const runs: (readonly string[])[] = [];
      for (const query of ['', '', '?fields=meta,title,id,published_at', '?fields=id,author_id.name']) {
        for (let n = 1; n < 4; n++) runs.push(await recordStatementsDuring(() => write(n, query)));
        const { id } = JSON.parse(written?.text ?? '').data;
        const read = await send('GET', `/items/${shape.target}/${id}${query}`, service.admin.token);
        expect(written).to.deep.equal(read);
      }
      const counts = Array.from({ length: 4 }, (_, at) =>
        Math.min(...runs.slice(3 * at, 3 * at + 3).map(({ length }) => length)),
      );
      // Fields behind a relation need a second statement that reads them.
      expect(counts).to.deep.equal([1, 1, 1, 2]);
    });
  }

  it('a list that is created is one statement with the answer of a read by its keys, byte for byte', async () => {
    const row = (n: number) => ({
      title: `Row ${n}`,
      price: '1.5',
      published_at: '2024-05-06T07:08:09.120Z',
      meta: { n },
    });
    const rows = [row(1), row(2), row(3)];
    const different = [
      { ...row(4), id: 900_002 },
      { ...row(5), id: 900_001, status: 'draft' },
    ];
    for (const [body, query, expected] of [
      [rows, '', 1],
      [rows, '?fields=meta,title,id,published_at', 1],
      [different, '', 1],
      [[row(6)], '', 1],
      [rows, '?fields=id,author_id.name', 2],
    ] as const) {
      let written = { status: 0, text: '' };
      const counts: number[] = [];
      for (let n = 0; n < 3; n++) {
        await database.query('delete from note where id > 900000');
        const statements = await recordStatementsDuring(async () => {
          written = await send('POST', `/items/note${query}`, service.admin.token, body as object);
        });
        counts.push(statements.length);
      }
      expect(written.status, written.text).to.equal(200);
      expect(Math.min(...counts)).to.equal(expected);
      const keys = JSON.parse(written.text).data.map(({ id }: { id: number }) => id);
      expect(keys).to.have.length(body.length);
      expect(written).to.deep.equal(await send('SEARCH', `/items/note${query}`, service.admin.token, { keys }));
    }
  });

  it('PostgreSQL makes the JSON of a whole row once, for the answer and for the revision', async () => {
    const { token } = service.admin;
    const body = { title: 'Once', price: '2.5', meta: { a: 1 } };
    const { data } = JSON.parse((await send('POST', '/items/note', token, body)).text);
    for (const [method, path, sent] of [
      ['POST', '/items/note', body],
      ['POST', '/items/note', [body, body]],
      ['PATCH', `/items/note/${data.id}`, { title: 'Twice' }],
    ] as const) {
      const texts = await recordStatementsDuring(() => send(method, path, token, sent));
      const [write = ''] = texts.filter((text) => text.startsWith('with '));
      expect(write.match(/row_to_json/g), `${method} ${path}: ${write}`).to.have.length(1);
    }
  });

  it('a revision has the values of the row, whether or not the statement answers the row', async () => {
    const { token } = service.admin;
    const revisionOf = async (id: number) => {
      const query = `filter[collection]=note&filter[item]=${id}&sort=-id&limit=1&fields=data,delta`;
      return JSON.parse((await send('GET', `/revisions?${query}`, token)).text).data[0];
    };
    const body = { title: 'History', price: '2.5', published_at: '2024-05-06T07:08:09.120Z', meta: { a: [1, null] } };
    for (const query of ['', '?fields=id']) {
      const one = JSON.parse((await send('POST', `/items/note${query}`, token, body)).text).data;
      const list = JSON.parse((await send('POST', `/items/note${query}`, token, [body, body])).text).data;
      for (const { id } of [one, ...list]) {
        const read = JSON.parse((await send('GET', `/items/note/${id}`, token)).text).data;
        expect(await revisionOf(id)).to.deep.equal({ data: read, delta: read });
        const changed = JSON.parse(
          (await send('PATCH', `/items/note/${id}${query}`, token, { title: 'Later' })).text,
        ).data;
        expect(changed.id).to.equal(id);
        expect(await revisionOf(id)).to.deep.equal({ data: { ...read, title: 'Later' }, delta: { title: 'Later' } });
      }
    }
  });

  it('a write into a table with a trigger answers the row as the trigger changed it', async () => {
    const { text } = await send('POST', '/items/stamped?fields=name,price,at', service.admin.token, {
      name: 'a',
      price: '1.5',
    });
    expect(text).to.equal('{"data":{"name":"a stamped","price":"1.50","at":null}}');
  });

  it('a change of a key answers the row after "on update cascade"', async () => {
    const { text } = await send('PATCH', '/items/knot/1', service.admin.token, { id: 5 });
    expect(text).to.equal('{"data":{"id":5,"up":5}}');
  });

  it('a write answers 204 when a row rule hides the written row from the caller', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'note', action: 'create' },
      { collection: 'note', action: 'read', permissions: { status: { _eq: 'published' } } },
    ]);
    expect((await send('POST', '/items/note', token, { title: 'a', status: 'draft' })).status).to.equal(204);
    expect((await send('POST', '/items/note', token, { title: 'a', status: 'published' })).status).to.equal(200);
  });

  it('a write answers only the fields that the caller may read', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'note', action: 'create' },
      { collection: 'note', action: 'read', fields: ['title', 'price'] },
    ]);
    const { text } = await send('POST', '/items/note', token, { title: 'a', status: 'draft', price: '2' });
    expect(text).to.equal('{"data":{"title":"a","price":"2.00"}}');
  });
});

/** Statements that only run the cursor of a long answer. Its one real statement is `declare`. */
const FETCHING = /^(begin\b|fetch \d+ from |close |commit$)/;

const withoutFetches = (texts: readonly string[]): readonly string[] =>
  texts.some((text) => text.startsWith('declare ')) ? texts.filter((text) => !FETCHING.test(text)) : texts;
