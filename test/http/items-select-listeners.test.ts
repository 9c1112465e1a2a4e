import { expect } from 'chai';
import type { Host } from '#kernel';
import type { GroupSelection, ReadResultText, RowSelection, SelectionItem } from '../../plugins/query/contract.ts';
import { type ItemsSelectFixture, withItemsSelectFixture } from './items-select-fixture.ts';

type Row = Record<string, unknown>;

const SQL = `
  create type mood as enum ('glad', 'in progress');
  create table author (id serial primary key, name text);
  create table post (
    id serial primary key, title text, price numeric, at timestamptz, meta jsonb, author int references author,
    kind text, item text, state mood default 'in progress', states mood[] default '{glad,in progress}'
  );
  create table hero (id serial primary key, title text);
  create table remark (id serial primary key, body text, post int references post);
  insert into author (name) values ('Ann'), ('Bob');
  insert into hero (title) values ('Big');
  insert into post (title, price, at, meta, author, kind, item) values
    ('One', 12345678901234567890.5, '2024-02-03Z', '{"a":[1,2]}', 1, 'hero', '1'), ('Two', 'NaN', null, null, null, 'author', '2');
  insert into remark (body, post) values ('x', 1), ('y', 1), ('z', 2);
`;

const column = (field: string, key = field): SelectionItem => ({ kind: 'column', key, field });
const fn = (field: string, name: string, key = name, path?: string): SelectionItem => ({
  kind: 'column',
  key,
  field,
  fn: { name, ...(path === undefined ? {} : { path }) },
});
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
const typename = (value: string): SelectionItem => ({ kind: 'constant', key: '__typename', value });

const LABELS = new Map([['in progress', 'in_u0020_progress']]);

const EVERYTHING: RowSelection = {
  parameters: { sort: ['id'] },
  items: [
    typename('post'),
    { kind: 'column', key: 'id', field: 'id', as: 'text' },
    column('id', 'number'),
    column('title', 'called'),
    { kind: 'column', key: 'state', field: 'state', as: { labels: LABELS } },
    { kind: 'column', key: 'states', field: 'states', as: { labels: LABELS } },
    { kind: 'column', key: 'price', field: 'price', as: 'number' },
    { kind: 'object', key: 'at_func', items: [fn('at', 'year', 'y'), fn('at', 'month'), typename('f')] },
    { kind: 'object', key: 'meta_func', items: [fn('meta', 'json', 'first', 'a[0]'), fn('meta', 'json', 'all', 'a')] },
    related('author', [column('name', 'n')], {}, 'by'),
    { kind: 'column', key: 'key', field: 'author', as: 'text' },
    related('remarks', [{ kind: 'column', key: 'id', field: 'id', as: 'text' }, typename('remark')], {}, 'all'),
    related('remarks', [column('body', 'b')], {}, 'bodies'),
    related('remarks', [column('body')], { sort: ['-id'], limit: 1 }, 'last'),
    {
      kind: 'any',
      key: 'it',
      field: 'item',
      of: {
        hero: { items: [typename('hero'), column('title', 't')] },
        author: { items: [column('name')] },
      },
    },
  ],
};

const TO_ONE: RowSelection = {
  parameters: { sort: ['id'] },
  items: [
    related('author', [column('name')], { filter: { name: { _eq: 'Bob' } } }, 'bob'),
    related('author', [column('name')], { search: 'ann' }, 'ann'),
    related('author', [column('name')]),
  ],
};

const GROUPS: GroupSelection = {
  parameters: { groupBy: ['author', 'year(at)'], sort: ['author'] },
  groups: [
    { kind: 'groups', key: 'g' },
    { kind: 'count', key: 'n' },
    { kind: 'constant', key: '__typename', value: 'post_aggregated' },
    {
      kind: 'aggregate',
      key: 'most',
      name: 'max',
      of: [
        { kind: 'field', key: 'p', field: 'price' },
        { kind: 'constant', key: '__typename', value: 'f' },
        { kind: 'field', key: 'q', field: 'price' },
        { kind: 'field', key: 't', field: 'title' },
      ],
    },
    { kind: 'aggregate', key: 'count', name: 'count', of: [{ kind: 'field', key: 'id', field: 'id' }] },
  ],
};

describe('read listeners of a selection', () => {
  async function listening(
    listen: (host: Host) => void,
    work: (harness: ItemsSelectFixture) => Promise<void>,
  ): Promise<void> {
    await withItemsSelectFixture(
      SQL,
      async (harness) => {
        const alias = (collection: string, field: string) =>
          harness.send('POST', `/fields/${collection}`, { field, type: 'alias', meta: { special: ['o2m'] } });
        await alias('post', 'remarks');
        await harness.send('PATCH', '/relations/remark/post', { meta: { one_field: 'remarks' } });
        await harness.send('POST', '/relations', {
          collection: 'post',
          field: 'item',
          related_collection: null,
          meta: { one_collection_field: 'kind', one_allowed_collections: ['hero', 'author'] },
        });
        await work(harness);
      },
      listen,
    );
  }
  const select = async (
    { items, admin }: ItemsSelectFixture,
    selection: RowSelection | GroupSelection,
    rest: object = {},
  ) => ((await items.select(admin, 'post', { selection: () => selection, ...rest })) as ReadResultText).data as string;

  it('a listener that changes nothing leaves the answer unchanged', async () => {
    const alone: string[] = [];
    await listening(
      () => {},
      async (harness) => {
        for (const one of [EVERYTHING, GROUPS, TO_ONE]) alone.push(await select(harness, one));
        expect(alone[0]).to.equal(
          '[{"__typename":"post","id":"1","number":1,"called":"One",' +
            '"state":"in_u0020_progress","states":["glad","in_u0020_progress"],"price":12345678901234567890.5,' +
            '"at_func":{"y":2024,"month":2,"__typename":"f"},"meta_func":{"first":1,"all":[1, 2]},"by":{"n":"Ann"},"key":"1",' +
            '"all":[{"id":"1","__typename":"remark"}, {"id":"2","__typename":"remark"}],"bodies":[{"b":"x"}, {"b":"y"}],' +
            '"last":[{"body":"y"}],"it":{"__typename":"hero","t":"Big"}},' +
            '{"__typename":"post","id":"2","number":2,"called":"Two",' +
            '"state":"in_u0020_progress","states":["glad","in_u0020_progress"],"price":null,' +
            '"at_func":{"y":null,"month":null,"__typename":"f"},"meta_func":{"first":null,"all":null},"by":null,"key":null,' +
            '"all":[{"id":"3","__typename":"remark"}],"bodies":[{"b":"z"}],"last":[{"body":"z"}],"it":{"name":"Bob"}}]',
        );
        expect(alone[1]).to.equal(
          '[{"g":{"author":1,"at_year":2024},"n":1,"__typename":"post_aggregated",' +
            '"most":{"p":12345678901234567890.5,"__typename":"f","q":12345678901234567890.5,"t":"One"},"count":{"id":1}},' +
            '{"g":{"author":null,"at_year":null},"n":1,"__typename":"post_aggregated",' +
            '"most":{"p":null,"__typename":"f","q":null,"t":"Two"},"count":{"id":1}}]',
        );
      },
    );
    expect(alone[2]).to.equal(
      '[{"bob":null,"ann":{"name":"Ann"},"author":{"name":"Ann"}},{"bob":null,"ann":null,"author":null}]',
    );
    let received: unknown;
    await listening(
      (host) => {
        host.events.onFilter('post.items.read', (rows, { query }) => {
          received = [structuredClone(rows), query];
        });
      },
      async (harness) => {
        const blanks = (text: string | undefined) => text?.replaceAll(', ', ',');
        expect(await select(harness, TO_ONE)).to.equal(alone[2]);
        // The second read uses the cached statement.
        for (let n = 0; n < 2; n++)
          expect(await select(harness, EVERYTHING, { text: 'all' })).to.equal(blanks(alone[0]));
        const [rows, query] = received as [Row[], Row];
        expect(rows[0]).to.deep.equal({
          id: 1,
          title: 'One',
          state: 'in progress',
          states: ['glad', 'in progress'],
          price: '12345678901234567890.5',
          at_year: 2024,
          at_month: 2,
          meta_a_0_json: 1,
          meta_a_json: [1, 2],
          author: { name: 'Ann' },
          author_2: 1,
          remarks: [
            { id: 1, body: 'x' },
            { id: 2, body: 'y' },
          ],
          remarks_2: [{ body: 'y' }],
          item: { $collection: 'hero', title: 'Big' },
        });
        expect(query).to.deep.equal({
          fields: [
            'id',
            'title',
            'state',
            'states',
            'price',
            'year(at)',
            'month(at)',
            'json(meta, a[0])',
            'json(meta, a)',
            'author.name',
            'author_2',
            'remarks.id',
            'remarks.body',
            'remarks_2.body',
            'item:hero.title',
            'item:author.name',
          ],
          alias: { author_2: 'author', remarks_2: 'remarks' },
          deep: { remarks_2: { _sort: ['-id'], _limit: 1 } },
          sort: ['id'],
        });
        expect(await select(harness, GROUPS)).to.equal(alone[1]);
        expect((received as [Row[], Row])[0][0]).to.deep.equal({
          author: 1,
          at_year: 2024,
          countAll: 1,
          max: { price: '12345678901234567890.5', title: 'One' },
          count: { id: 1 },
        });
      },
    );
  });

  it('a listener masks a field under every alias in a document', () =>
    listening(
      (host) => {
        host.events.onFilter('post.items.read', (rows) =>
          (rows as Row[]).map(({ title, ...row }) => ({
            ...row,
            title: title === undefined ? undefined : '***',
            remarks: (row.remarks as Row[] | undefined)?.map((one) => ({ ...one, body: null })),
            seen: true,
          })),
        );
      },
      async (harness) => {
        const selection: RowSelection = {
          items: [
            column('title', 'a'),
            { kind: 'object', key: 'o', items: [column('title', 'b')] },
            related('remarks', [column('body', 'id')], {}, 'c'),
          ],
        };
        expect(await select(harness, selection, { key: 1 })).to.equal(
          '{"a":"***","o":{"b":"***"},"c":[{"id":null},{"id":null}]}',
        );
        expect(await select(harness, { items: [column('id', 'title')], parameters: { limit: 1 } })).to.equal(
          '[{"title":1}]',
        );
      },
    ));

  it('a listener receives a field requested several times under its own name, and nothing else under that name', async () => {
    let received: unknown;
    await listening(
      (host) => {
        host.events.onFilter('post.items.read', (rows, { query }) => {
          received = [structuredClone((rows as Row[])[0]), (query as Row).fields];
        });
      },
      async (harness) => {
        await harness.send('POST', '/fields/post', { field: 'remarks_2', type: 'string' });
        await harness.send('POST', '/fields/post', { field: 'at_year', type: 'string' });
        const item = (key: string, of: Readonly<Record<string, RowSelection>>): SelectionItem => ({
          kind: 'any',
          key,
          field: 'item',
          of,
        });
        const selection: RowSelection = {
          items: [
            related('remarks', [column('id')], { limit: 1, sort: ['id'] }, 'a'),
            { kind: 'related', key: 'b', field: 'remarks', selection: { items: [column('id')] } },
            related('remarks', [column('body')], { sort: ['id'], limit: 1 }, 'c'),
            related('remarks', [column('body')], {}, 'd'),
            fn('at', 'year', 'e'),
            column('remarks_2', 'f'),
            column('at_year', 'g'),
            item('h', { hero: { items: [column('id')] } }),
            item('i', { author: { items: [column('id')] } }),
            item('j', { hero: { items: [column('title')] }, author: { items: [] } }),
          ],
        };
        expect(await select(harness, selection, { key: 1 })).to.equal(
          '{"a":[{"id":1}],"b":[{"id":1},{"id":2}],"c":[{"body":"x"}],"d":[{"body":"x"},{"body":"y"}],"e":2024,"f":null,' +
            '"g":null,"h":{"id":1},"i":null,"j":{"title":"Big"}}',
        );
        const [row, fields] = received as [Row, unknown];
        expect(row).to.deep.equal({
          remarks: [{ id: 1, body: 'x' }],
          remarks_3: [
            { id: 1, body: 'x' },
            { id: 2, body: 'y' },
          ],
          at_year_2: 2024,
          remarks_2: null,
          at_year: null,
          item: { $collection: 'hero', id: 1, title: 'Big' },
        });
        expect(fields).to.deep.equal([
          'remarks.id',
          'remarks.body',
          'remarks_3.id',
          'remarks_3.body',
          'at_year_2',
          'remarks_2',
          'at_year',
          'item:hero.id',
          'item:hero.title',
          'item:author.id',
        ]);
      },
    );
  });

  it('actions receive rows and query in the REST representation', async () => {
    const listenerCalls: unknown[] = [];
    await listening(
      (host) => {
        host.events.onAction('post.items.read', ({ payload, query, collection }) => {
          listenerCalls.push({ payload, query, collection });
        });
      },
      async (harness) => {
        expect(
          await select(harness, {
            items: [column('title', 'x')],
            parameters: { limit: 1, filter: { id: { _eq: 2 } } },
          }),
        ).to.equal('[{"x":"Two"}]');
        expect(listenerCalls).to.deep.equal([
          {
            payload: [{ title: 'Two' }],
            query: { fields: ['title'], limit: 1, filter: { id: { _eq: 2 } } },
            collection: 'post',
          },
        ]);
      },
    );
  });

  it('a query listener changes the conditions of a query and removes fields from it', async () => {
    const listenerCalls: unknown[] = [];
    await listening(
      (host) => {
        host.events.onFilter('post.items.query', (payload) => {
          const query = payload as Row;
          listenerCalls.push(structuredClone(query));
          const fields = (query.fields as string[] | undefined)?.filter((one) => !/price|remarks/.test(one));
          return { ...query, ...(fields ? { fields } : {}), filter: { id: { _eq: 2 } } };
        });
      },
      async (harness) => {
        const shown: SelectionItem[] = [
          typename('post'),
          column('title'),
          column('price', 'cost'),
          { kind: 'object', key: 'f', items: [fn('remarks', 'count'), fn('at', 'year')] },
          related('author', [column('name')]),
          related('remarks', [column('id')]),
        ];
        expect(await select(harness, { items: shown, parameters: { sort: ['-id'] } }, { text: 'q' })).to.equal(
          '[{"__typename":"post","title":"Two","cost":null,"f":{"count":null,"year":null},"author":null,"remarks":null}]',
        );
        expect(listenerCalls).to.deep.equal([
          { fields: ['title', 'price', 'count(remarks)', 'year(at)', 'author.name', 'remarks.id'], sort: ['-id'] },
        ]);
        expect(await select(harness, GROUPS)).to.include('[{"g":{"author":null,"at_year":null},"n":1');
        expect(listenerCalls[1]).to.deep.equal({
          aggregate: { countAll: ['*'], max: ['price', 'title'], count: ['id'] },
          groupBy: ['author', 'year(at)'],
          sort: ['author'],
        });
      },
    );
  });

  it('a query listener and a read listener both apply', () =>
    listening(
      (host) => {
        host.events.onFilter('post.items.query', (query) => ({ ...(query as Row), fields: 'id, title', limit: 1 }));
        host.events.onFilter('post.items.read', (rows) =>
          (rows as Row[]).map((row) => ({ ...row, title: Object.keys(row).join() })),
        );
      },
      async (harness) => {
        expect(await select(harness, { items: [column('title', 't'), column('price'), column('id')] })).to.equal(
          '[{"t":"title,id","price":null,"id":1}]',
        );
      },
    ));

  it('listeners are not called for a singleton without a row, as in REST', () =>
    listening(
      (host) => {
        host.events.onFilter('hero.items.read', () => {
          throw new Error('there are no rows');
        });
      },
      async (harness) => {
        await harness.database.query('delete from hero');
        await harness.send('PATCH', '/collections/hero', { meta: { singleton: true } });
        const shown: SelectionItem[] = [
          typename('hero'),
          { kind: 'column', key: 'id', field: 'id', as: 'text' },
          column('title', 'x'),
        ];
        const { data } = (await harness.items.select(harness.admin, 'hero', {
          selection: () => ({ items: shown }),
        })) as ReadResultText;
        expect(data).to.equal('{"__typename":"hero","id":null,"x":null}');
      },
    ));
});
