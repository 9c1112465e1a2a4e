import { expect } from 'chai';
import type { RowSelection, SelectionItem } from '../../../plugins/query/contract.ts';
import {
  compileCaseToSql,
  createQueryTestDatabase,
  type QueryCase,
  type QueryTestDatabase,
  runCaseAsJsonText,
} from './query-cases.ts';
import {
  columnSelectionItem,
  relatedSelectionItem,
  runSelection,
  typenameSelectionItem,
} from './selection-builders.ts';

describe('selections', () => {
  const grounds = new Map<string, QueryTestDatabase>();
  before(async () => {
    for (const name of ['library', 'people', 'site', 'types']) grounds.set(name, await createQueryTestDatabase(name));
  });
  after(() => Promise.all([...grounds.values()].map(({ database }) => database.drop())));

  const ground = (name: string) => grounds.get(name) as QueryTestDatabase;
  const ask = (schema: string, collection: string, selection: RowSelection, rest: Partial<QueryCase> = {}) =>
    runSelection(ground(schema), collection, selection, rest);
  const sqlOf = (schema: string, collection: string, selection: RowSelection) =>
    compileCaseToSql({ query: {}, collection }, ground(schema).schema, selection).text;

  it('columns and constants have the keys and the order of the selection', async () => {
    const { data } = await ask('library', 'person', {
      items: [
        columnSelectionItem('name', 'called'),
        typenameSelectionItem('person'),
        columnSelectionItem('id'),
        { kind: 'constant', key: 'no', value: null },
      ],
      parameters: { limit: 1 },
    });
    expect(JSON.stringify(data)).to.equal('[{"called":"Ann","__typename":"person","id":1,"no":null}]');
  });

  it('a column may be selected under several keys', async () => {
    const { data } = await ask('library', 'person', {
      items: [columnSelectionItem('name', 'a'), columnSelectionItem('name', 'b')],
      parameters: { filter: { id: { _eq: 2 } } },
    });
    expect(data).to.deep.equal([{ a: 'Bob', b: 'Bob' }]);
  });

  it('a selection may have constants only, or no item', async () => {
    expect(
      (await ask('library', 'label', { items: [typenameSelectionItem('label')], parameters: { limit: 2 } })).data,
    ).to.deep.equal([{ __typename: 'label' }, { __typename: 'label' }]);
    expect((await ask('library', 'label', { items: [], parameters: { limit: 1 } })).data).to.deep.equal([{}]);
  });

  it('a constant may contain quotes and backslashes', async () => {
    const { data } = await ask('library', 'label', {
      items: [typenameSelectionItem(`it's \\ "x"`)],
      parameters: { limit: 1 },
    });
    expect(data).to.deep.equal([{ __typename: `it's \\ "x"` }]);
  });

  it('functions are grouped in an object', async () => {
    const shown: SelectionItem[] = [
      {
        kind: 'object',
        key: 'at_func',
        items: [
          { kind: 'column', key: 'y', field: 'at', fn: { name: 'year' } },
          { kind: 'column', key: 'month', field: 'at', fn: { name: 'month' } },
          typenameSelectionItem('datetime_functions'),
        ],
      },
      {
        kind: 'object',
        key: 'labels_func',
        items: [{ kind: 'column', key: 'count', field: 'labels', fn: { name: 'count' } }],
      },
      { kind: 'object', key: 'nothing', items: [] },
    ];
    const { data } = await ask('library', 'book', { items: shown, parameters: { limit: 1 } });
    expect(data).to.deep.equal([
      {
        at_func: { y: 2020, month: 1, __typename: 'datetime_functions' },
        labels_func: { count: 2 },
        nothing: {},
      },
    ]);
  });

  it('json() selects a value inside a JSON column', async () => {
    const json = (key: string, path: string): SelectionItem => ({
      kind: 'column',
      key,
      field: 'doc',
      fn: { name: 'json', path },
    });
    const { data } = await ask('types', 'thing', {
      items: [{ kind: 'object', key: 'doc_func', items: [json('b', 'a.b'), json('x', 'a.b[1]'), json('none', 'q')] }],
      parameters: { filter: { id: { _eq: 1 } } },
    });
    expect(data).to.deep.equal([{ doc_func: { b: [10, 'x'], x: 'x', none: null } }]);
  });

  it('columns are formatted as text or as numbers', async () => {
    const as = (field: string, form: 'text' | 'number', key = field): SelectionItem => ({
      kind: 'column',
      key,
      field,
      as: form,
    });
    const { data } = await ask('types', 'thing', {
      items: [
        as('id', 'text'),
        as('code', 'text'),
        as('price', 'number'),
        as('rating', 'number'),
        as('exact', 'number'),
        columnSelectionItem('big'),
        as('list', 'number'),
        as('list', 'text', 'also'),
        as('hidden', 'text'),
      ],
    });
    expect(data).to.deep.equal([
      {
        id: '1',
        code: '11111111-1111-4111-8111-111111111111',
        price: Number('12345678901234567890.123'),
        rating: 1.5,
        exact: 0.1,
        big: '9007199254740993',
        list: [3, 1, 2],
        also: [3, 1, 2],
        hidden: '**********',
      },
      {
        id: '2',
        code: null,
        price: -0.5,
        rating: null,
        exact: null,
        big: '-5',
        list: [],
        also: [],
        hidden: '**********',
      },
      { id: '3', code: null, price: null, rating: null, exact: null, big: null, list: null, also: null, hidden: null },
      {
        id: '4',
        code: '22222222-2222-4222-8222-222222222222',
        price: 0,
        rating: 0,
        exact: -1e300,
        big: '9223372036854775807',
        list: [7, null],
        also: [7, null],
        hidden: null,
      },
    ]);
  });

  it('decimals as numbers keep all digits, and NaN and infinity are null', async () => {
    const { database } = ground('types');
    const shown: SelectionItem[] = [{ kind: 'column', key: 'price', field: 'price', as: 'number' }];
    const { data: text } = await runCaseAsJsonText({ query: {}, collection: 'thing' }, ground('types'), {
      items: shown,
    });
    expect(text).to.include('{"price":12345678901234567890.123}');
    await database.query(
      `insert into thing (id, price) values (11, 'NaN'), (12, 'Infinity'), (13, '-Infinity'), (14, 1.50)`,
    );
    try {
      const all = await runCaseAsJsonText({ query: {}, collection: 'thing' }, ground('types'), {
        items: shown,
        parameters: { filter: { id: { _gt: 10 } } },
      });
      expect(all.data).to.equal('[{"price":null},{"price":null},{"price":null},{"price":1.50}]');
    } finally {
      await database.query('delete from thing where id > 10');
    }
  });

  it('a many-to-one is the related row or its key', async () => {
    const { data } = await ask('library', 'book', {
      items: [
        columnSelectionItem('id'),
        relatedSelectionItem('author', [
          columnSelectionItem('name'),
          relatedSelectionItem('boss', [columnSelectionItem('name'), typenameSelectionItem('person')]),
        ]),
        { kind: 'column', key: 'key', field: 'author', as: 'text' },
      ],
      parameters: { sort: ['-id'], limit: 3 },
    });
    expect(data).to.deep.equal([
      { id: 4, author: { name: 'Bob', boss: { name: 'Ann', __typename: 'person' } }, key: '2' },
      { id: 3, author: null, key: null },
      { id: 2, author: { name: 'Cy_%', boss: { name: 'Ann', __typename: 'person' } }, key: '3' },
    ]);
  });

  it('a many-to-one whose row does not match its filter is null', async () => {
    const { data } = await ask('library', 'book', {
      items: [
        columnSelectionItem('id'),
        relatedSelectionItem('author', [columnSelectionItem('name')], { filter: { name: { _eq: 'Bob' } }, limit: 0 }),
      ],
    });
    expect(data).to.deep.equal([
      { id: 1, author: { name: 'Bob' } },
      { id: 2, author: null },
      { id: 3, author: null },
      { id: 4, author: { name: 'Bob' } },
    ]);
  });

  it('a relation may be selected several times with different parameters', async () => {
    const { data } = await ask('library', 'person', {
      items: [
        relatedSelectionItem('books', [columnSelectionItem('title')], { sort: ['-price'], limit: 1 }, 'dearest'),
        relatedSelectionItem('books', [columnSelectionItem('id')], { filter: { price: { _lt: 50 } } }, 'cheap'),
        relatedSelectionItem('books', [typenameSelectionItem('book')], {}),
      ],
      parameters: { filter: { id: { _eq: 2 } } },
    });
    expect(data).to.deep.equal([
      { dearest: [{ title: '' }], cheap: [{ id: 1 }], books: [{ __typename: 'book' }, { __typename: 'book' }] },
    ]);
  });

  it('related lists have the order of their sort field, paging and search', async () => {
    const { data } = await ask('site', 'page', {
      items: [
        relatedSelectionItem('children', [columnSelectionItem('slug')]),
        relatedSelectionItem('blocks', [columnSelectionItem('id')], { limit: 1, page: 2 }, 'second'),
        relatedSelectionItem('texts', [columnSelectionItem('title')], { search: 'hello' }, 'found'),
      ],
      parameters: { filter: { id: { _eq: 1 } } },
    });
    expect(data).to.deep.equal([
      { children: [{ slug: 'about' }, { slug: 'draft' }], second: [{ id: 1 }], found: [{ title: 'Welcome' }] },
    ]);
  });

  it('a many-to-any shows rows of the selected collections, and rows of other collections are null', async () => {
    const item = (of: Readonly<Record<string, RowSelection>>): SelectionItem => ({
      kind: 'any',
      key: 'item',
      field: 'item',
      of,
    });
    const hero: RowSelection = {
      items: [
        typenameSelectionItem('hero'),
        columnSelectionItem('title'),
        relatedSelectionItem('image', [columnSelectionItem('name')]),
      ],
    };
    const { data } = await ask('site', 'page_block', {
      items: [columnSelectionItem('id'), item({ hero, quote: { items: [columnSelectionItem('said', 'title')] } })],
    });
    expect(data).to.deep.equal([
      { id: 1, item: { __typename: 'hero', title: 'Big', image: { name: 'sea.png' } } },
      { id: 2, item: { title: 'Less is more' } },
      { id: 3, item: { __typename: 'hero', title: 'Small', image: null } },
      { id: 4, item: null },
      { id: 5, item: null },
      { id: 6, item: null },
      { id: 7, item: null },
    ]);
    const some = await ask('site', 'page_block', {
      items: [item({ hero: { items: [] }, page: { items: [columnSelectionItem('id')] } })],
      parameters: { limit: 2 },
    });
    expect(some.data).to.deep.equal([{ item: {} }, { item: null }]);
    expect((await ask('site', 'page_block', { items: [item({})], parameters: { limit: 1 } })).data).to.deep.equal([
      { item: null },
    ]);
    const filtered = await ask('site', 'page_block', {
      items: [
        item({ hero: { items: [columnSelectionItem('id')], parameters: { filter: { title: { _eq: 'Big' } } } } }),
      ],
      parameters: { filter: { kind: { _eq: 'hero' } } },
    });
    expect(filtered.data).to.deep.equal([{ item: { id: 1 } }, { item: null }, { item: null }]);
  });

  it('keys may be longer than a column name and more than the arguments of a function', async () => {
    const long = 'a'.repeat(63);
    const shown = [...Array(120).keys()].map((n) => columnSelectionItem(n % 2 === 0 ? 'id' : 'name', `${long}_${n}`));
    const expected = Object.fromEntries([...Array(120).keys()].map((n) => [`${long}_${n}`, n % 2 === 0 ? 1 : 'red']));
    const { data } = await ask('library', 'label', {
      items: [
        ...shown.slice(0, 3),
        relatedSelectionItem('books', [columnSelectionItem('id', `${long}ü`), typenameSelectionItem('x')], {
          limit: 1,
        }),
      ],
      parameters: { limit: 1 },
    });
    expect(JSON.stringify(data)).to.equal(
      JSON.stringify([
        { ...Object.fromEntries(Object.entries(expected).slice(0, 3)), books: [{ [`${long}ü`]: 1, __typename: 'x' }] },
      ]),
    );
    for (const count of [50, 51, 100, 101, 120]) {
      const all = await ask('library', 'label', { items: shown.slice(0, count), parameters: { limit: 1 } });
      expect(JSON.stringify(all.data)).to.equal(
        JSON.stringify([Object.fromEntries(Object.entries(expected).slice(0, count))]),
      );
    }
    const inside: SelectionItem = {
      kind: 'object',
      key: 'o',
      items: [...shown.slice(0, 60), typenameSelectionItem('} {', 'brace')],
    };
    const nested = await ask('library', 'book', {
      items: [
        relatedSelectionItem('author', shown.slice(0, 60)),
        { ...inside, items: [columnSelectionItem('id', `${long}_x`), typenameSelectionItem('}', 'b')] },
      ],
      parameters: { limit: 1 },
    });
    expect(nested.data).to.deep.equal([
      {
        author: Object.fromEntries([...Array(60).keys()].map((n) => [`${long}_${n}`, n % 2 === 0 ? 2 : 'Bob'])),
        o: { [`${long}_x`]: 1, b: '}' },
      },
    ]);
  });

  it('columns with unusual names are selected', async () => {
    const names = ['select', 'with "quotes"', 'back\\slash', '__proto__', 'constructor', '~0', 't1'];
    const { data } = await ask('types', 'awkward', {
      items: names.map((name) => columnSelectionItem(name)),
      parameters: { limit: 1, sort: ['id'] },
    });
    expect(Object.keys((data as object[])[0] as object)).to.deep.equal(names);
  });

  it('singletons and rows by keys are selected', async () => {
    const shown = [columnSelectionItem('id'), typenameSelectionItem('x')];
    expect((await ask('site', 'config', { items: shown }, { single: true })).data).to.deep.equal({
      id: 1,
      __typename: 'x',
    });
    expect(
      (
        await ask(
          'library',
          'person',
          { items: [columnSelectionItem('name')], parameters: { limit: 1 } },
          { keys: [3, 1] },
        )
      ).data,
    ).to.deep.equal([{ name: 'Cy_%' }, { name: 'Ann' }]);
  });

  it('a selection of plain columns is one select, and relations are read for the limited rows', () => {
    const year: SelectionItem = { kind: 'column', key: 'y', field: 'at', fn: { name: 'year' } };
    const count: SelectionItem = { kind: 'column', key: 'count', field: 'labels', fn: { name: 'count' } };
    const plain = sqlOf('library', 'book', {
      items: [
        { kind: 'column', key: 'id', field: 'id', as: 'text' },
        typenameSelectionItem('book'),
        { kind: 'object', key: 'f', items: [year] },
      ],
    });
    expect(plain).to.equal(
      `select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id"::text as "id", 'book'::text as "__typename", (select row_to_json(t2.*) from (select case when isfinite(t1."at") then extract(year from t1."at" at time zone 'UTC')::int end as "y") t2) as "f" from "public"."book" t1 order by t1."id" limit 100) r`,
    );
    expect(sqlOf('library', 'book', { items: [{ kind: 'object', key: 'f', items: [count] }] })).to.include(
      'limit 100) t2',
    );
  });

  it('the shape of a selection has no keys of the document', () => {
    const selection: RowSelection = {
      items: [
        typenameSelectionItem('book'),
        columnSelectionItem('title', 'secret'),
        { kind: 'object', key: 'f', items: [{ kind: 'column', key: 'y', field: 'at', fn: { name: 'year' } }] },
        relatedSelectionItem('author', [columnSelectionItem('name')], {}, 'by'),
      ],
      parameters: { filter: { id: { _gt: 1 } } },
    };
    const { shape } = compileCaseToSql({ query: {}, collection: 'book' }, ground('library').schema, selection);
    expect(shape).to.equal('book[title,year(at),author[name]] where id._gt limit 100');
  });

  it('keys of the selection have no meaning in filter and sort', async () => {
    const shown = [columnSelectionItem('name', 'title'), columnSelectionItem('id', 'name')];
    expect(
      (await ask('library', 'person', { items: shown, parameters: { sort: ['-name'], limit: 1 } })).data,
    ).to.deep.equal([{ title: 'Cy_%', name: 3 }]);
    expect((await ask('library', 'person', { items: shown, parameters: { sort: ['title'] } })).error?.code).to.equal(
      'FORBIDDEN',
    );
    expect(
      (await ask('library', 'person', { items: shown, parameters: { filter: { title: 'x' } } })).error?.code,
    ).to.equal('FORBIDDEN');
  });

  it('the query beside a selection is ignored', async () => {
    const query = { fields: 'title', limit: 1, meta: '*', filter: { id: 99 }, deep: 5, alias: 'x', version: 'y' };
    const { data, meta } = await ask('library', 'label', { items: [columnSelectionItem('id')] }, { query });
    expect([data, meta]).to.deep.equal([[{ id: 1 }, { id: 2 }, { id: 3 }], undefined]);
  });

  it('errors have the path of keys to the cause', async () => {
    const at = async (selection: RowSelection) => (await ask('library', 'person', selection)).error;
    expect(await at({ items: [columnSelectionItem('id')], parameters: { limit: -2 } })).to.deep.equal({
      code: 'INVALID_QUERY',
      path: ['limit'],
    });
    expect(
      await at({
        items: [
          relatedSelectionItem(
            'books',
            [relatedSelectionItem('labels', [], { filter: { id: { _eq: 'x' } } }, 'l')],
            {},
            'b',
          ),
        ],
      }),
    ).to.deep.equal({ code: 'INVALID_QUERY', path: ['b', 'l', 'filter', 'id', '_eq'] });
    expect(await at({ items: [{ kind: 'column', key: 'y', field: 'name', fn: { name: 'year' } }] })).to.deep.equal({
      code: 'INVALID_QUERY',
      path: ['y'],
    });
  });
});
