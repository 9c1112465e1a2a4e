import { expect } from 'chai';
import { loadData } from '../../scripts/bench/data.ts';
import { prepareModel } from '../../scripts/bench/model.ts';
import { askOf, isWrite, SHAPES, type Shape } from '../../scripts/bench/shapes.ts';
import type { FreshDatabase } from '../support/database.ts';
import { type InProcess, migratedDatabase, startService } from '../support/service.ts';
import { statementsDuring } from '../support/statements.ts';
import { personWith } from './people.ts';

const SCALE = 0.01;

describe('a read is one statement, whatever its shape, and answers what the statement written by hand does', () => {
  let database: FreshDatabase;
  let service: InProcess;
  let editor: string;
  before(async () => {
    database = await migratedDatabase('one_statement');
    await loadData(database, SCALE);
    await database.query(`
      create table stamped (id serial primary key, name text, price numeric(10,2), at timestamptz);
      create table knot (id int primary key, up int references knot on update cascade);
      insert into knot values (1, 1);
      create function stamp() returns trigger language plpgsql as $$
        begin update stamped set name = name || ' stamped' where id = new.id; return null; end $$;
      create trigger stamp after insert on stamped for each row execute function stamp()`);
    service = await startService({ database });
    editor = await prepareModel(service);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  /** The answer as the bench's hand-written statement has it. */
  async function byHand(shape: Shape, n: number): Promise<unknown> {
    const { path, body } = askOf(shape, n, SCALE);
    const id = /\/(\d+)\?/.exec(path)?.[1] ?? '';
    const [row] = await database.query<{ data: string; meta?: string }>(
      shape.ideal,
      shape.params?.(id, body as never) ?? [],
    );
    const meta = row?.meta === undefined ? {} : { meta: JSON.parse(row.meta) };
    return { data: JSON.parse(row?.data as string), ...meta };
  }

  for (const shape of SHAPES.filter((one) => !isWrite(one))) {
    it(shape.name, async () => {
      const token = shape.as === 'editor' ? editor : service.admin.token;
      const ask = (n: number) => {
        const { method, path, body } = askOf(shape, n, SCALE);
        return service.request(method, path, { token, body });
      };
      // What is remembered from now on is asked once: permissions, the schema, whether the user is still active.
      for (let n = 0; n < 2; n++) {
        const { status, body } = await ask(n);
        expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200);
        expect(body).to.deep.equal(await byHand(shape, n));
      }
      const runs: (readonly string[])[] = [];
      for (let n = 2; n < 5; n++) runs.push(withoutFetches(await statementsDuring(() => ask(n))));
      // News from the database may have something remembered asked anew in between, so one of three must be alone; the
      // read itself is one statement every time.
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
    it(`${name} is one statement, and answers the bytes of a read`, async () => {
      const shape = SHAPES.find((one) => one.name === name) as Shape;
      let written: { readonly status: number; readonly text: string } | undefined;
      const write = async (n: number, query = '') => {
        const { method, path, body } = askOf(shape, n, SCALE);
        written = await send(method, path + query, service.admin.token, body as object);
      };
      const runs: (readonly string[])[] = [];
      for (const query of ['', '', '?fields=meta,title,id,published_at', '?fields=id,author_id.name']) {
        for (let n = 1; n < 4; n++) runs.push(await statementsDuring(() => write(n, query)));
        const { id } = JSON.parse(written?.text ?? '').data;
        const read = await send('GET', `/items/${shape.target}/${id}${query}`, service.admin.token);
        expect(written).to.deep.equal(read);
      }
      const counts = Array.from({ length: 4 }, (_, at) =>
        Math.min(...runs.slice(3 * at, 3 * at + 3).map(({ length }) => length)),
      );
      // What lies behind a relation is read back.
      expect(counts).to.deep.equal([1, 1, 1, 2]);
    });
  }

  it('a write into a table with a trigger answers what the trigger left', async () => {
    const { text } = await send('POST', '/items/stamped?fields=name,price,at', service.admin.token, {
      name: 'a',
      price: '1.5',
    });
    expect(text).to.equal('{"data":{"name":"a stamped","price":"1.50","at":null}}');
  });

  it('a new key answers what foreign keys that follow it made of the row', async () => {
    const { text } = await send('PATCH', '/items/knot/1', service.admin.token, { id: 5 });
    expect(text).to.equal('{"data":{"id":5,"up":5}}');
  });

  it('a write whose row the caller may not read by a row rule answers 204', async () => {
    const { token } = await personWith(service, [
      { collection: 'note', action: 'create' },
      { collection: 'note', action: 'read', permissions: { status: { _eq: 'published' } } },
    ]);
    expect((await send('POST', '/items/note', token, { title: 'a', status: 'draft' })).status).to.equal(204);
    expect((await send('POST', '/items/note', token, { title: 'a', status: 'published' })).status).to.equal(200);
  });

  it('a write shows only the fields that the caller may read', async () => {
    const { token } = await personWith(service, [
      { collection: 'note', action: 'create' },
      { collection: 'note', action: 'read', fields: ['title', 'price'] },
    ]);
    const { text } = await send('POST', '/items/note', token, { title: 'a', status: 'draft', price: '2' });
    expect(text).to.equal('{"data":{"title":"a","price":"2.00"}}');
  });
});

/** A long answer comes through a cursor: one statement, declared once, whose rows are fetched in parts. */
const FETCHING = /^(begin\b|fetch \d+ from |close |commit$)/;

const withoutFetches = (texts: readonly string[]): readonly string[] =>
  texts.some((text) => text.startsWith('declare ')) ? texts.filter((text) => !FETCHING.test(text)) : texts;
