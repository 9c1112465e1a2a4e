import { expect } from 'chai';
import type { Caller } from '#kernel';
import type { SelectionReadRequest } from '../../plugins/items/contract.ts';
import type { ReadResultText, RowSelection, RowStream, SelectionItem } from '../../plugins/query/contract.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { type ItemsSelectFixture, withItemsSelectFixture } from './items-select-fixture.ts';

const SQL = `
  create table author (id serial primary key, name text);
  create table post (id serial primary key, title text, price numeric, author int references author);
  create table settings (
    id serial primary key, title text default 'none', size int default 5, big bigint default 7, price numeric default 1.5,
    created_at timestamptz default now(), owner int references author
  );
  insert into author (name) values ('Ann'), ('Bob');
  insert into post (title, price, author) select 'post ' || n, n, 1 + n % 2 from generate_series(1, 3) n;
`;

const column = (field: string, key = field): SelectionItem => ({ kind: 'column', key, field });
const typename = (value: string): SelectionItem => ({ kind: 'constant', key: '__typename', value });
const POST: RowSelection = {
  items: [{ kind: 'column', key: 'id', field: 'id', as: 'text' }, column('title', 'called')],
};

describe('items.select', () => {
  let harness: ItemsSelectFixture;
  let done = () => {};
  let over: Promise<void>;
  before(
    () =>
      new Promise<void>((resolve, reject) => {
        over = withItemsSelectFixture(SQL, async (one) => {
          harness = one;
          resolve();
          await new Promise<void>((end) => {
            done = end;
          });
        });
        over.catch(reject);
      }),
  );
  after(async () => {
    done();
    await over;
  });

  const text = async (answer: Promise<ReadResultText | RowStream>): Promise<string> => {
    const found = await answer;
    if (!('batches' in found)) return found.data as string;
    const rows: string[] = [];
    for await (const batch of found.batches) rows.push(...batch);
    return `[${rows.join(',')}]`;
  };
  const select = (
    collection: string,
    selection: RowSelection,
    rest: Partial<SelectionReadRequest> = {},
    caller: Caller = harness.admin,
  ) => text(harness.items.select(caller, collection, { selection: () => selection, ...rest }));
  const codeOf = (answer: Promise<unknown>) =>
    answer.then(
      () => undefined,
      (error) => error.code,
    );

  it('answers lists, rows by key and rows by keys in exactly the form of the selection', async () => {
    expect(await select('post', { ...POST, parameters: { limit: 1 } })).to.equal('[{"id":"1","called":"post 1"}]');
    expect(await select('post', POST, { key: '2' })).to.equal('{"id":"2","called":"post 2"}');
    expect(await select('post', POST, { keys: ['3', 1] })).to.equal(
      '[{"id":"3","called":"post 3"},{"id":"1","called":"post 1"}]',
    );
    expect(await select('post', { groups: [{ kind: 'count', key: 'n' }] } as never)).to.equal('[{"n":3}]');
  });

  it('rejects a key without a row, a key of the wrong type, and unreadable fields', async () => {
    const caller = await harness.callerWith({ post: [['id'], { id: { _gt: 1 } }] });
    const ids: RowSelection = { items: [column('id')] };
    expect(await codeOf(select('post', POST, { key: 99 }))).to.equal('FORBIDDEN');
    expect(await codeOf(select('post', POST, { key: 'x' }))).to.equal('FORBIDDEN');
    expect(await codeOf(select('post', ids, { key: 1 }, caller))).to.equal('FORBIDDEN');
    expect(await select('post', ids, { key: 2 }, caller)).to.equal('{"id":2}');
    expect(await codeOf(select('post', POST, {}, caller))).to.equal('FORBIDDEN');
    expect(await codeOf(select('author', ids, {}, caller))).to.equal('FORBIDDEN');
    expect(await codeOf(select('nothing', ids))).to.equal('ROUTE_NOT_FOUND');
  });

  it('runs one statement, and builds the selection of a cached text once', async () => {
    let created = 0;
    const selection = () => {
      created++;
      return POST;
    };
    const ask = (key: number) => text(harness.items.select(harness.admin, 'post', { selection, text: 'by id', key }));
    expect(await ask(1)).to.equal('{"id":"1","called":"post 1"}');
    const runs: (readonly string[])[] = [];
    for (const key of [2, 3, 1]) runs.push(await recordStatementsDuring(() => ask(key)));
    expect(created).to.equal(1);
    for (const texts of runs) expect(texts.filter((one) => one.includes('"post"'))).to.have.length(1);
    expect(Math.min(...runs.map(({ length }) => length))).to.equal(1);
    expect(await ask(2)).to.equal('{"id":"2","called":"post 2"}');
  });

  it('keeps the same text of another collection, of a list and of a query apart', async () => {
    const id: RowSelection = { items: [column('id')], parameters: { limit: 1 } };
    const named = (name: string) => ({ items: [column('id', name)], parameters: { limit: 1 } });
    expect(await select('post', id, { text: 't' })).to.equal('[{"id":1}]');
    expect(await select('author', named('a'), { text: 't' })).to.equal('[{"a":1}]');
    expect(await select('post', named('k'), { text: 't', key: 1 })).to.equal('{"k":1}');
    expect(await select('post', named('other'), { text: 't', streaming: 'long' })).to.equal('[{"other":1}]');
    const query = { fields: ['id', 'title'], limit: 1 };
    expect((await harness.items.readMany(harness.admin, 'post', query)).data).to.equal('[{"id":1,"title":"post 1"}]');
    expect(await select('post', named('x'), { text: JSON.stringify(query) })).to.equal('[{"x":1}]');
  });

  it('keeps cached statements apart by permissions', async () => {
    const some = await harness.callerWith({ post: [['*'], { id: { _eq: 2 } }] });
    expect(await select('post', POST, { text: 'all' })).to.include('post 1');
    expect(await select('post', POST, { text: 'all' }, some)).to.equal('[{"id":"2","called":"post 2"}]');
  });

  it('streams long lists to callers that accept parts', async () => {
    await harness.database.query(`create table line (id serial primary key, body text)`);
    await harness.database.query(`insert into line (body) select repeat('x', 500) from generate_series(1, 2000)`);
    const all: RowSelection = { items: [column('id')], parameters: { limit: -1 } };
    const long: RowSelection = {
      items: [column('id', 'n'), column('body'), typename('line')],
      parameters: { limit: -1 },
    };
    for (const round of [1, 2]) {
      const answer = await harness.items.select(harness.admin, 'line', {
        selection: () => long,
        text: 'long',
        streaming: 'long',
      });
      expect('batches' in answer, `round ${round}`).to.equal(true);
      const rows = JSON.parse(await text(Promise.resolve(answer)));
      expect([rows.length, rows[1999]]).to.deep.equal([2000, { n: 2000, body: 'x'.repeat(500), __typename: 'line' }]);
    }
    const short = await harness.items.select(harness.admin, 'line', { selection: () => all, streaming: 'long' });
    expect('data' in short && JSON.parse(short.data as string)).to.have.length(2000);
  });

  it('refreshes the schema snapshot for an unknown name, and for a dropped column', async () => {
    const shown: RowSelection = { items: [column('id'), column('extra')], parameters: { limit: 1 } };
    expect(await codeOf(select('author', shown))).to.equal('FORBIDDEN');
    await harness.database.query('alter table author add extra int default 4');
    expect(await select('author', shown, { text: 'extra' })).to.equal('[{"id":1,"extra":4}]');
    await harness.database.query('alter table author drop extra');
    expect(await codeOf(select('author', shown, { text: 'extra' }))).to.equal('FORBIDDEN');
    expect(await select('author', { items: [column('id')], parameters: { limit: 1 } })).to.equal('[{"id":1}]');
  });

  it('answers all fields of a singleton without its row, in order', async () => {
    await harness.send('PATCH', '/collections/settings', { meta: { singleton: true } });
    await harness.send('POST', '/fields/author', { field: 'of', type: 'alias', meta: { special: ['o2m'] } });
    await harness.send('PATCH', '/relations/settings/owner', { meta: { one_field: 'of' } });
    await harness.send('POST', '/fields/settings', { field: 'posts', type: 'alias', meta: { special: ['o2m'] } });
    await harness.send('POST', '/fields/post', { field: 'of', type: 'integer' });
    await harness.send('POST', '/relations', {
      collection: 'post',
      field: 'of',
      related_collection: 'settings',
      meta: { one_field: 'posts' },
    });
    const shown: SelectionItem[] = [
      typename('settings'),
      { kind: 'column', key: 'id', field: 'id', as: 'text' },
      column('title', 'called'),
      { kind: 'column', key: 'size', field: 'size', as: 'text' },
      column('size', 'number'),
      column('big'),
      { kind: 'column', key: 'price', field: 'price', as: 'number' },
      column('price', 'exact'),
      column('created_at'),
      {
        kind: 'object',
        key: 'created_at_func',
        items: [{ kind: 'column', key: 'year', field: 'created_at', fn: { name: 'year' } }, typename('f')],
      },
      { kind: 'related', key: 'owner', field: 'owner', selection: { items: [column('name')] } },
      { kind: 'related', key: 'posts', field: 'posts', selection: { items: [column('id')] } },
    ];
    const expected =
      '{"__typename":"settings","id":null,"called":"none","size":"5","number":5,"big":"7","price":1.5,"exact":"1.5","created_at":null,' +
      '"created_at_func":{"year":null,"__typename":"f"},"owner":null,"posts":[]}';
    expect(await select('settings', { items: shown })).to.equal(expected);
    await harness.database.query(`insert into settings (created_at, owner) values ('2024-05-06Z', 1)`);
    expect(JSON.parse(await select('settings', { items: shown }))).to.deep.equal({
      ...JSON.parse(expected),
      id: '1',
      created_at: '2024-05-06T00:00:00.000Z',
      created_at_func: { year: 2024, __typename: 'f' },
      owner: { name: 'Ann' },
    });
  });
});
