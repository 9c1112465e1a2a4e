import { expect } from 'chai';
import type { ReadResultText, RowSelection, SelectionItem } from '../../plugins/query/contract.ts';
import { withItemsSelectFixture } from './items-select-fixture.ts';

type Row = Record<string, unknown>;

const SQL = `
  create table author (id serial primary key, name text, secret text);
  create table post (id serial primary key, title text, author int references author, kind text, item text);
  create table hero (id serial primary key, title text, secret text);
  create table remark (id serial primary key, body text, secret text, post int references post, author int references author);
  insert into author (name, secret) values ('Ann', 'of Ann');
  insert into hero (title, secret) values ('Big', 'of Big');
  insert into post (title, author, kind, item) values ('One', 1, 'hero', '1');
  insert into remark (body, secret, post, author) values ('x', 'of x', 1, 1), ('y', 'of y', 1, 1);
`;

const column = (field: string, key = field): SelectionItem => ({ kind: 'column', key, field });
const related = (
  field: string,
  shown: readonly SelectionItem[],
  terms: RowSelection['parameters'] = {},
  key = field,
): SelectionItem => ({
  kind: 'related',
  key,
  field,
  selection: { parameters: terms, items: shown },
});
const typename: SelectionItem = { kind: 'constant', key: '__typename', value: 'row' };

const SELECTION: RowSelection = {
  items: [
    column('title'),
    related('author', [typename, column('name'), column('secret', 'name2')], {}, 'by'),
    { kind: 'column', key: 'key', field: 'author', as: 'text' },
    related('remarks', [column('body'), related('author', [column('secret', 's')])], { sort: ['-id'] }, 'all'),
    related('remarks', [column('secret')], { limit: 1, sort: ['id'] }, 'one'),
    { kind: 'any', key: 'it', field: 'item', of: { hero: { items: [column('title'), column('secret', 't')] } } },
  ],
};

describe('/graphql with a listener that changes queries', () => {
  /** Reads with a query listener that applies `change`. Answers the row, and the query that the listener received. */
  async function readWith(change: (query: Row) => Row): Promise<readonly [row: Row, received: Row]> {
    let received: Row = {};
    let row: Row = {};
    await withItemsSelectFixture(
      SQL,
      async ({ items, admin, send }) => {
        await send('POST', '/fields/post', { field: 'remarks', type: 'alias', meta: { special: ['o2m'] } });
        await send('PATCH', '/relations/remark/post', { meta: { one_field: 'remarks' } });
        await send('POST', '/relations', {
          collection: 'post',
          field: 'item',
          related_collection: null,
          meta: { one_collection_field: 'kind', one_allowed_collections: ['hero', 'author'] },
        });
        const { data } = (await items.select(admin, 'post', { selection: () => SELECTION })) as ReadResultText;
        [row] = JSON.parse(data as string);
      },
      (host) =>
        host.events.onFilter('post.items.query', (query) => {
          received = structuredClone(query as Row);
          return change(query as Row);
        }),
    );
    return [row, received];
  }
  const WHOLE = {
    title: 'One',
    by: { __typename: 'row', name: 'Ann', name2: 'of Ann' },
    key: '1',
    all: [
      { body: 'y', author: { s: 'of Ann' } },
      { body: 'x', author: { s: 'of Ann' } },
    ],
    one: [{ secret: 'of x' }],
    it: { title: 'Big', t: 'of Big' },
  };

  it('a listener that leaves the query as it is does not change the answer', async () => {
    const [row, received] = await readWith((query) => structuredClone(query));
    expect(row).to.deep.equal(WHOLE);
    expect(received.fields).to.include.members([
      'author.name',
      'author.secret',
      'remarks.author.secret',
      'item:hero.secret',
    ]);
  });

  it('a listener removes fields from related rows, whatever alias the document gives them', async () => {
    const [row] = await readWith((query) => ({
      ...query,
      fields: (query.fields as string[]).filter((path) => !path.endsWith('secret')),
    }));
    expect(row).to.deep.equal({
      ...WHOLE,
      by: { __typename: 'row', name: 'Ann', name2: null },
      all: [
        { body: 'y', author: null },
        { body: 'x', author: null },
      ],
      one: [{ secret: null }],
      it: { title: 'Big', t: null },
    });
  });

  it('a listener sets the fields behind a relation, as in REST', async () => {
    const [row] = await readWith((query) => ({ ...query, fields: 'title,author.name,remarks.*,item.title' }));
    expect(row).to.deep.equal({
      ...WHOLE,
      by: { __typename: 'row', name: 'Ann', name2: null },
      all: [
        { body: 'y', author: null },
        { body: 'x', author: null },
      ],
      it: { title: 'Big', t: null },
    });
    const [columns] = await readWith((query) => ({ ...query, fields: ['*'] }));
    expect(columns).to.deep.equal({ title: 'One', by: null, key: '1', all: null, one: null, it: null });
    const [level] = await readWith((query) => ({ ...query, fields: ['*.*'] }));
    expect(level.by).to.deep.equal(WHOLE.by);
    expect(level.all).to.deep.equal([
      { body: 'y', author: null },
      { body: 'x', author: null },
    ]);
  });

  it('a listener adds conditions behind relations', async () => {
    const [row] = await readWith(({ deep, ...query }) => ({
      ...query,
      deep: {
        ...(deep as Row),
        remarks: { ...(deep as Record<string, Row>).remarks, _filter: { body: { _eq: 'x' } } },
        author: { _filter: { name: { _eq: 'Bob' } } },
        'item:hero': { _filter: { title: { _eq: 'Small' } } },
      },
    }));
    expect(row).to.deep.equal({
      ...WHOLE,
      by: null,
      all: [{ body: 'x', author: { s: 'of Ann' } }],
      it: null,
    });
  });
});
