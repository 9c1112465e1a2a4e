import { expect } from 'chai';
import type { GroupSelection, GroupSelectionItem } from '../../../plugins/query/contract.ts';
import {
  compileCaseToSql,
  createQueryTestDatabase,
  type QueryCase,
  type QueryTestDatabase,
  runCaseAsJsonText,
} from './query-cases.ts';
import { runSelection, typenameSelectionItem } from './selection-builders.ts';

type Aggregate = Extract<GroupSelectionItem, { kind: 'aggregate' }>;

const GROUP: GroupSelectionItem = { kind: 'groups', key: 'group' };
const COUNT: GroupSelectionItem = { kind: 'count', key: 'countAll' };
const of = (name: Aggregate['name'], fields: readonly string[], key: string = name): Aggregate => ({
  kind: 'aggregate',
  key,
  name,
  of: fields.map((field) => ({ kind: 'field', key: field, field })),
});

describe('group selections', () => {
  const grounds = new Map<string, QueryTestDatabase>();
  before(async () => {
    for (const name of ['library', 'people', 'types']) grounds.set(name, await createQueryTestDatabase(name));
  });
  after(() => Promise.all([...grounds.values()].map(({ database }) => database.drop())));

  const ground = (name: string) => grounds.get(name) as QueryTestDatabase;
  const ask = (schema: string, collection: string, selection: GroupSelection, rest: Partial<QueryCase> = {}) =>
    runSelection(ground(schema), collection, selection, rest);

  it('aggregates of all rows are JSON numbers', async () => {
    const numbers = of('sum', ['price', 'rating', 'big']);
    const { data } = await runCaseAsJsonText({ query: {}, collection: 'book' }, ground('library'), {
      groups: [
        COUNT,
        numbers,
        of('avg', ['id']),
        of('min', ['price', 'day']),
        of('count', ['author']),
        of('countDistinct', ['author']),
      ],
    });
    expect(data).to.equal(
      '[{"countAll":4,"sum":{"price":114.99,"rating":-0.5,"big":9007199254740989},"avg":{"id":2.5000000000000000},' +
        '"min":{"price":5,"day":"2020-01-01"},"count":{"author":3},"countDistinct":{"author":2}}]',
    );
  });

  it('NaN and infinity are null', async () => {
    const { data } = await ask('types', 'thing', {
      groups: [of('sum', ['rating', 'exact']), of('max', ['rating', 'price'])],
    });
    expect(data).to.deep.equal([
      { sum: { rating: null, exact: null }, max: { rating: null, price: Number('12345678901234567890.123') } },
    ]);
  });

  it('groups have their REST names, are sorted and paged', async () => {
    const groups = [GROUP, of('count', ['id'])];
    const read = (terms: GroupSelection['parameters']) => ask('people', 'article', { groups, parameters: terms ?? {} });
    expect((await read({ groupBy: ['status'], sort: ['-status'] })).data).to.deep.equal([
      { group: { status: null }, count: { id: 1 } },
      { group: { status: 'live' }, count: { id: 2 } },
      { group: { status: 'draft' }, count: { id: 1 } },
    ]);
    expect(
      (await read({ groupBy: ['year(published)', 'price'], sort: ['price'], limit: 2, page: 1 })).data,
    ).to.deep.equal([
      { group: { published_year: null, price: '0.1' }, count: { id: 1 } },
      { group: { published_year: 2022, price: '10.50' }, count: { id: 1 } },
    ]);
    expect((await read({ groupBy: ['topic'], sort: ['-count.id', 'topic'], limit: 1 })).data).to.deep.equal([
      { group: { topic: 'sea' }, count: { id: 2 } },
    ]);
    expect((await read({ groupBy: ['topic'], filter: { topic: { _neq: 'sea' } } })).data).to.deep.equal([
      { group: { topic: 'hills' }, count: { id: 1 } },
      { group: { topic: 'town' }, count: { id: 1 } },
    ]);
  });

  it('a function that is selected twice is computed once', async () => {
    const selection: GroupSelection = {
      groups: [
        COUNT,
        { ...COUNT, key: 'again' },
        {
          kind: 'aggregate',
          key: 'a',
          name: 'sum',
          of: [
            { kind: 'field', key: 'x', field: 'score' },
            { kind: 'field', key: 'y', field: 'score' },
            typenameSelectionItem('t'),
          ],
        },
        of('sum', ['score', 'id'], 'b'),
      ],
    };
    expect((await ask('people', 'article', selection)).data).to.deep.equal([
      { countAll: 4, again: 4, a: { x: 8, y: 8, __typename: 't' }, b: { score: 8, id: 10 } },
    ]);
    const { text } = compileCaseToSql({ query: {}, collection: 'article' }, ground('people').schema, selection);
    expect(text.match(/sum\(/g)).to.have.length(2);
    expect(text.match(/count\(\*\)/g)).to.have.length(1);
  });

  it('a selection without groups and functions answers one row', async () => {
    expect(
      (await ask('people', 'article', { groups: [GROUP, typenameSelectionItem('article_aggregated')] })).data,
    ).to.deep.equal([{ group: null, __typename: 'article_aggregated' }]);
    expect((await ask('people', 'article', { groups: [of('avg', [])] })).data).to.deep.equal([{ avg: {} }]);
    expect((await ask('people', 'article', { groups: [GROUP], parameters: { groupBy: ['team'] } })).data).to.deep.equal(
      [{ group: { team: 1 } }, { group: { team: 2 } }, { group: { team: null } }],
    );
    expect((await ask('people', 'article', { groups: [] })).data).to.deep.equal([{}]);
  });

  it('keys may be longer than a column name', async () => {
    const long = 'x'.repeat(70);
    expect(
      (
        await ask('people', 'article', {
          groups: [
            { kind: 'groups', key: `${long}g` },
            {
              kind: 'aggregate',
              key: `${long}c`,
              name: 'count',
              of: [{ kind: 'field', key: `${long}f`, field: 'id' }],
            },
          ],
          parameters: { groupBy: ['status'], filter: { status: 'draft' } },
        })
      ).data,
    ).to.deep.equal([{ [`${long}g`]: { status: 'draft' }, [`${long}c`]: { [`${long}f`]: 1 } }]);
  });

  it('aggregates that a query refuses are refused in a selection', async () => {
    const code = async (selection: GroupSelection, rest: Partial<QueryCase> = {}) =>
      (await ask('people', 'platform_users', selection, rest)).error?.code;
    expect(await code({ groups: [of('sum', ['name'])] })).to.equal('INVALID_QUERY');
    expect(await code({ groups: [of('count', ['token'])] })).to.equal('FORBIDDEN');
    expect(await code({ groups: [of('count', ['nothing'])] })).to.equal('FORBIDDEN');
    expect(await code({ groups: [GROUP], parameters: { groupBy: ['token'] } })).to.equal('FORBIDDEN');
    expect(await code({ groups: [COUNT], parameters: { sort: ['name'] } })).to.equal('INVALID_QUERY');
    const rules = { platform_users: { fields: ['id'] } };
    expect(await code({ groups: [of('count', ['name'])] }, { rules })).to.equal('FORBIDDEN');
    expect(await code({ groups: [COUNT], parameters: { groupBy: ['name'] } }, { rules })).to.equal('FORBIDDEN');
    expect(await code({ groups: [of('count', ['id'])] }, { rules })).to.equal(undefined);
    const many = of('count', ['id', 'name', 'role', 'team']);
    expect(await code({ groups: [many] }, { ceilings: { nodes: 5 } })).to.equal('INVALID_QUERY');
    expect(await code({ groups: [COUNT], parameters: { limit: 11 } }, { ceilings: { limitMax: 10 } })).to.equal(
      'INVALID_QUERY',
    );
  });

  it('aggregates count only readable rows, and values only on rows where the field is readable', async () => {
    const rules = {
      article: [
        { fields: ['id', 'topic'], filter: { team: { _nnull: true } } },
        { fields: ['score'], filter: { status: { _eq: 'live' } } },
      ],
    };
    const { data } = await ask(
      'people',
      'article',
      { groups: [COUNT, of('sum', ['score']), of('count', ['id'])] },
      { rules },
    );
    expect(data).to.deep.equal([{ countAll: 4, sum: { score: 3 }, count: { id: 3 } }]);
  });
});
