import { expect } from 'chai';
import type { RowSelection, SelectionItem } from '../../../plugins/query/contract.ts';
import { createQueryTestDatabase, type QueryCase, type QueryTestDatabase } from './query-cases.ts';
import {
  columnSelectionItem,
  relatedSelectionItem,
  runSelection,
  typenameSelectionItem,
} from './selection-builders.ts';

describe('selections under permissions and ceilings', () => {
  const grounds = new Map<string, QueryTestDatabase>();
  before(async () => {
    for (const name of ['people', 'site']) grounds.set(name, await createQueryTestDatabase(name));
  });
  after(() => Promise.all([...grounds.values()].map(({ database }) => database.drop())));

  const ask = (schema: string, collection: string, selection: RowSelection, rest: Partial<QueryCase> = {}) =>
    runSelection(grounds.get(schema) as QueryTestDatabase, collection, selection, rest);
  const readArticles = (
    shown: readonly SelectionItem[],
    rules: QueryCase['rules'],
    terms: RowSelection['parameters'] = {},
  ) => ask('people', 'article', { items: shown, parameters: { sort: ['id'], ...terms } }, rules ? { rules } : {});
  const codeOf = async (...args: Parameters<typeof readArticles>) => (await readArticles(...args)).error?.code;

  it('an unknown field and an unreadable one are both FORBIDDEN', async () => {
    const rules = { article: { fields: ['id', 'team'] }, team: { fields: ['id'] } };
    expect(await codeOf([columnSelectionItem('nothing')], undefined)).to.equal('FORBIDDEN');
    expect(await codeOf([columnSelectionItem('nothing')], rules)).to.equal('FORBIDDEN');
    expect(await codeOf([columnSelectionItem('title')], rules)).to.equal('FORBIDDEN');
    expect(await codeOf([relatedSelectionItem('team', [columnSelectionItem('name')])], rules)).to.equal('FORBIDDEN');
    expect(await codeOf([{ kind: 'object', key: 'o', items: [columnSelectionItem('title')] }], rules)).to.equal(
      'FORBIDDEN',
    );
    expect(await codeOf([columnSelectionItem('id')], rules, { sort: ['title'] })).to.equal('FORBIDDEN');
    expect(await codeOf([columnSelectionItem('id')], rules, { filter: { title: { _eq: 'x' } } })).to.equal('FORBIDDEN');
    expect(
      await codeOf([relatedSelectionItem('team', [columnSelectionItem('id')], { filter: { name: 'x' } })], rules),
    ).to.equal('FORBIDDEN');
  });

  it('a field of another kind than the selection expects is FORBIDDEN', async () => {
    expect(await codeOf([relatedSelectionItem('title', [])], undefined)).to.equal('FORBIDDEN');
    expect(await codeOf([columnSelectionItem('remarks')], undefined)).to.equal('FORBIDDEN');
    expect(await codeOf([{ kind: 'any', key: 'a', field: 'team', of: {} }], undefined)).to.equal('FORBIDDEN');
    const site = async (shown: readonly SelectionItem[], collection: string) =>
      (await ask('site', collection, { items: shown })).error?.code;
    expect(await site([relatedSelectionItem('item', [])], 'page_block')).to.equal('FORBIDDEN');
    expect(await site([columnSelectionItem('divider')], 'page')).to.equal('FORBIDDEN');
  });

  it('a function of a concealed field is FORBIDDEN', async () => {
    const { error } = await ask('people', 'platform_users', {
      items: [{ kind: 'column', key: 'x', field: 'token', fn: { name: 'count' } }],
    });
    expect(error?.code).to.equal('FORBIDDEN');
  });

  it('a relation to an unreadable collection is null and not left out', async () => {
    const rules = { article: { fields: ['*'] } };
    const count: SelectionItem = { kind: 'column', key: 'count', field: 'remarks', fn: { name: 'count' } };
    const { data } = await readArticles(
      [
        columnSelectionItem('id'),
        relatedSelectionItem('team', [typenameSelectionItem('team')]),
        relatedSelectionItem('remarks', []),
        { kind: 'object', key: 'f', items: [count] },
      ],
      rules,
      { limit: 1 },
    );
    expect(JSON.stringify(data)).to.equal('[{"id":1,"team":null,"remarks":null,"f":{"count":null}}]');
  });

  it('rows of an unreadable collection behind a many-to-any are null', async () => {
    const rules = { page_block: { fields: ['*'] }, hero: { fields: ['title'] } };
    const of: Readonly<Record<string, RowSelection>> = {
      hero: { items: [columnSelectionItem('title')] },
      quote: { items: [typenameSelectionItem('quote')] },
    };
    const { data } = await ask(
      'site',
      'page_block',
      { items: [{ kind: 'any', key: 'item', field: 'item', of }], parameters: { limit: 3 } },
      { rules },
    );
    expect(data).to.deep.equal([{ item: { title: 'Big' } }, { item: null }, { item: { title: 'Small' } }]);
  });

  it('row rules apply at every node', async () => {
    const rules = {
      article: { fields: ['*'], filter: { status: { _eq: 'live' } } },
      remark: { fields: ['id', 'body'], filter: { internal: { _eq: false } } },
      team: { fields: ['*'], filter: { name: { _eq: 'Green' } } },
    };
    const count: SelectionItem = { kind: 'column', key: 'count', field: 'remarks', fn: { name: 'count' } };
    const { data } = await readArticles(
      [
        columnSelectionItem('id'),
        relatedSelectionItem('remarks', [columnSelectionItem('body')]),
        relatedSelectionItem('team', [columnSelectionItem('name')]),
        count,
      ],
      rules,
    );
    expect(data).to.deep.equal([
      { id: 1, remarks: [{ body: 'good' }], team: null, count: 1 },
      { id: 3, remarks: [], team: null, count: 0 },
    ]);
  });

  it('a field that is readable on some rows is null on the others, under any key and format', async () => {
    const rules = {
      article: [
        { fields: ['id'] },
        { fields: ['title', 'score', 'published', 'team', 'price'], filter: { status: { _eq: 'live' } } },
      ],
      team: { fields: ['*'] },
    };
    const { data } = await readArticles(
      [
        { kind: 'column', key: 'id', field: 'id', as: 'text' },
        columnSelectionItem('title', 'called'),
        { kind: 'column', key: 'price', field: 'price', as: 'number' },
        {
          kind: 'object',
          key: 'f',
          items: [{ kind: 'column', key: 'year', field: 'published', fn: { name: 'year' } }],
        },
        relatedSelectionItem('team', [columnSelectionItem('name')]),
      ],
      rules,
      { limit: 2 },
    );
    expect(data).to.deep.equal([
      { id: '1', called: 'Waves', price: 10.5, f: { year: 2022 }, team: { name: 'Blue' } },
      { id: '2', called: null, price: null, f: { year: null }, team: null },
    ]);
  });

  it('a selection has the ceilings of a query', async () => {
    const code = async (selection: RowSelection, ceilings: QueryCase['ceilings']) =>
      (await ask('site', 'page', selection, ceilings ? { ceilings } : {})).error?.code;
    const deep = (levels: number): SelectionItem =>
      levels === 0 ? columnSelectionItem('id') : relatedSelectionItem('parent', [deep(levels - 1)]);
    expect(await code({ items: [deep(2)] }, { depth: 3 })).to.equal(undefined);
    expect(await code({ items: [deep(3)] }, { depth: 3 })).to.equal('INVALID_QUERY');
    expect(await code({ items: [relatedSelectionItem('children', [], { limit: 11 })] }, { limitMax: 10 })).to.equal(
      'INVALID_QUERY',
    );
    expect(await code({ items: [], parameters: { limit: 11 } }, { limitMax: 10 })).to.equal('INVALID_QUERY');
    const wide = (count: number): readonly SelectionItem[] =>
      [...Array(count).keys()].map((n) => typenameSelectionItem('x', `k${n}`));
    expect(await code({ items: wide(9) }, { nodes: 10 })).to.equal(undefined);
    expect(await code({ items: wide(10) }, { nodes: 10 })).to.equal('INVALID_QUERY');
    expect(await code({ items: [{ kind: 'object', key: 'o', items: wide(9) }] }, { nodes: 10 })).to.equal(
      'INVALID_QUERY',
    );
    expect(await code({ items: [relatedSelectionItem('parent', wide(8))] }, { nodes: 10 })).to.equal('INVALID_QUERY');
  });

  it('the default limit applies to lists at every level', async () => {
    const { data } = await ask(
      'site',
      'page',
      { items: [relatedSelectionItem('children', [columnSelectionItem('id')])] },
      { ceilings: { limitDefault: 1 } },
    );
    expect(data).to.deep.equal([{ children: [{ id: 3 }] }]);
    const all = await ask(
      'site',
      'page',
      { items: [relatedSelectionItem('children', [columnSelectionItem('id')])], parameters: { filter: { id: 1 } } },
      { ceilings: { limitDefault: 1 } },
    );
    expect(all.data).to.deep.equal([{ children: [{ id: 2 }] }]);
  });
});
