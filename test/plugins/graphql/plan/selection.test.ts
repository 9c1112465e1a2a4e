import { expect } from 'chai';
import type { SelectionListParameters } from '../../../../plugins/query/contract.ts';
import { translateGroupSelection, translateSelection } from './operations.ts';
import { createSmallSchema } from './small-schema.ts';

const built = createSmallSchema();

/** The selection of the first root field. */
const selectionIn = (text: string, variables: Record<string, unknown> = {}, options = {}) =>
  translateSelection(built, text, variables, options);

const shownIn = (text: string, variables: Record<string, unknown> = {}) => selectionIn(text, variables).items;
const termsIn = (text: string, variables: Record<string, unknown> = {}) => selectionIn(text, variables).parameters;
const column = (key: string, field = key) => ({ kind: 'column', key, field });
const ID = { kind: 'column', key: 'id', field: 'id', as: 'text' };
const typename = (value: string, key = '__typename') => ({ kind: 'constant', key, value });
const related = (key: string, items: unknown, parameters?: unknown, field = key) => ({
  kind: 'related',
  key,
  field,
  selection: parameters ? { parameters, items } : { items },
});

describe('graphqlFieldToSelection and toGroupSelection', () => {
  describe('fields', () => {
    it('fields answer columns in the order of the document, in the format of their types', () => {
      expect(shownIn('{ posts { views id title } }')).to.deep.equal([
        { kind: 'column', key: 'views', field: 'views', as: 'number' },
        ID,
        column('title'),
      ]);
    });

    it('fields have the name of their alias, and __typename that of the type', () => {
      expect(shownIn('{ posts { headline: title kind: __typename } }')).to.deep.equal([
        column('headline', 'title'),
        typename('posts', 'kind'),
      ]);
    });

    it('fields are answered twice under two aliases, and once when selected twice', () => {
      expect(shownIn('{ posts { title title again: title } }')).to.deep.equal([
        column('title'),
        column('again', 'title'),
      ]);
    });

    it('fields of one relation are merged from several places', () => {
      const text = `{ posts { author { id } title ...more author { ... on people { id name } } } }
        fragment more on posts { author { posts { id } } }`;
      expect(shownIn(text)).to.deep.equal([
        related('author', [ID, related('posts', [ID]), column('name')]),
        column('title'),
      ]);
    });

    it('fields of the root are merged by response key', () => {
      expect(shownIn('{ posts { id } posts { title } }')).to.deep.equal([ID, column('title')]);
    });

    it('fields of one relation under two aliases keep their own arguments', () => {
      const text = '{ posts { comments(limit: 1) { id } rest: comments(offset: 1, sort: ["-id"]) { text } } }';
      expect(shownIn(text)).to.deep.equal([
        related('comments', [ID], { limit: 1 }),
        related('rest', [column('text')], { sort: ['-id'], offset: 1 }, 'comments'),
      ]);
    });

    it('fields with functions become one object', () => {
      const text =
        '{ posts { when: published_func { y: year month __typename } meta_func { count json(path: "a.b[0]") } } }';
      expect(shownIn(text)).to.deep.equal([
        {
          kind: 'object',
          key: 'when',
          items: [
            { kind: 'column', key: 'y', field: 'published', fn: { name: 'year' } },
            { kind: 'column', key: 'month', field: 'published', fn: { name: 'month' } },
            typename('date_functions'),
          ],
        },
        {
          kind: 'object',
          key: 'meta_func',
          items: [
            { kind: 'column', key: 'count', field: 'meta', fn: { name: 'count' } },
            { kind: 'column', key: 'json', field: 'meta', fn: { name: 'json', path: 'a.b[0]' } },
          ],
        },
      ]);
    });

    it('fields of JSON values read their path from a variable', () => {
      const text = 'query ($at: String!) { posts { meta_func { json(path: $at) } } }';
      expect(shownIn(text, { at: 'x.y' })).to.deep.equal([
        {
          kind: 'object',
          key: 'meta_func',
          items: [{ kind: 'column', key: 'json', field: 'meta', fn: { name: 'json', path: 'x.y' } }],
        },
      ]);
    });

    it('fields may all be skipped, which leaves an empty selection', () => {
      expect(shownIn('{ posts { id @skip(if: true) } }')).to.deep.equal([]);
      expect(shownIn('{ posts { ... @include(if: false) { id } } }')).to.deep.equal([]);
    });
  });

  describe('fragments and directives', () => {
    it('fragments are followed by name and inline, also nested', () => {
      const text = `{ posts { ...one ... on posts { views } ... { published } } }
        fragment one on posts { id ...two } fragment two on posts { title }`;
      expect(shownIn(text)).to.deep.equal([
        ID,
        column('title'),
        { kind: 'column', key: 'views', field: 'views', as: 'number' },
        column('published'),
      ]);
    });

    it('@skip and @include exclude fields by literals and by variables', () => {
      const text = `query ($yes: Boolean!, $no: Boolean = false) {
        posts {
          id @include(if: $yes) title @include(if: $no) views @skip(if: $yes)
          ...more @skip(if: $no) ... @include(if: false) { meta }
        }
      } fragment more on posts { published }`;
      expect(shownIn(text, { yes: true })).to.deep.equal([ID, column('published')]);
    });

    it('a field skipped in one place and selected in another is included', () => {
      expect(shownIn('{ posts { title @skip(if: true) ... { title } } }')).to.deep.equal([column('title')]);
    });

    it('a field with both directives needs both conditions', () => {
      const shown =
        '{ posts { a: title @skip(if: false) @include(if: true) b: title @skip(if: true) @include(if: true) } }';
      expect(shownIn(shown)).to.deep.equal([column('a', 'title')]);
    });
  });

  describe('many-to-any', () => {
    const any = (of: unknown, key = 'item') => ({ kind: 'any', key, field: 'item', of });
    const blocks = (item: string, more = '') => shownIn(`{ posts { blocks { ${item} } } } ${more}`);

    it('a many-to-any has a selection for every type of the union', () => {
      expect(blocks('item { __typename ... on headings { text } ... on images { url } }')).to.deep.equal([
        related('blocks', [
          any({
            headings: { items: [typename('headings'), column('text')] },
            images: { items: [typename('images'), column('url')] },
          }),
        ]),
      ]);
    });

    it('a many-to-any has an empty selection for a type without fields', () => {
      expect(blocks('item { ... on headings { text } }')).to.deep.equal([
        related('blocks', [any({ headings: { items: [column('text')] }, images: { items: [] } })]),
      ]);
    });

    it('applies fragments on the union and on its types', () => {
      const more = `fragment all on blocks_item_union { __typename ...h } fragment h on headings { people { name } }`;
      expect(blocks('it: item { ...all }', more)).to.deep.equal([
        related('blocks', [
          any(
            {
              headings: { items: [typename('headings'), related('people', [column('name')])] },
              images: { items: [typename('images')] },
            },
            'it',
          ),
        ]),
      ]);
    });

    it('a many-to-any allows one response key to be a different field of each type', () => {
      expect(blocks('item { ... on headings { words: text } ... on images { words: url } }')).to.deep.equal([
        related('blocks', [
          any({ headings: { items: [column('words', 'text')] }, images: { items: [column('words', 'url')] } }),
        ]),
      ]);
    });
  });

  describe('list arguments', () => {
    it('list arguments are passed when set and left out otherwise', () => {
      const text = `query ($limit: Int, $page: Int, $sort: [String] = ["title"]) {
        posts(limit: $limit, page: $page, sort: $sort, search: "x", offset: 0) { id }
      }`;
      expect(termsIn(text, { page: 2 })).to.deep.equal({ page: 2, sort: ['title'], search: 'x', offset: 0 });
      expect(termsIn(text, { page: null, limit: 3, sort: '-id' })).to.deep.equal({
        limit: 3,
        sort: ['-id'],
        search: 'x',
        offset: 0,
      });
      expect(termsIn('{ posts { id } }')).to.equal(undefined);
      expect(termsIn('query ($limit: Int) { posts(limit: $limit) { id } }')).to.equal(undefined);
    });

    it('list arguments are reported for every node with its collection', () => {
      const found: [string, SelectionListParameters][] = [];
      const text = '{ posts(limit: 3) { author { posts(sort: "id") { comments(page: 2) { id } } } } }';
      selectionIn(text, {}, { onParameters: (...one: [string, SelectionListParameters]) => found.push(one) });
      expect(found).to.deep.equal([
        ['posts', { limit: 3 }],
        ['posts', { sort: ['id'] }],
        ['comments', { page: 2 }],
      ]);
    });
  });

  describe('filters', () => {
    const filterIn = (filter: string, variables: Record<string, unknown> = {}, definitions = '') =>
      termsIn(`query ${definitions} { posts(filter: ${filter}) { id } }`, variables)?.filter;

    it('filters have the form of REST', () => {
      const filter =
        '{ title: { _contains: "a" }, author: { name: { _eq: "b" } }, _or: [{ id: { _in: ["1", "2"] } }] }';
      expect(filterIn(filter)).to.deep.equal({
        title: { _contains: 'a' },
        author: { name: { _eq: 'b' } },
        _or: [{ id: { _in: ['1', '2'] } }],
      });
    });

    it('filters translate quantifiers, functions and the targets of a many-to-any', () => {
      const filter = `{
        published_func: { year: { _gt: 2020 } },
        comments: { _some: { text: { _eq: "x" } }, _none: { item__headings: { name: { _eq: "y" } } } }
      }`;
      expect(filterIn(filter)).to.deep.equal({
        'year(published)': { _gt: 2020 },
        comments: { _some: { text: { _eq: 'x' } }, _none: { 'item:headings': { name: { _eq: 'y' } } } },
      });
    });

    it('filters are translated wherever they are nested', () => {
      const year = '{ published_func: { year: { _gt: 1 } } }';
      const filter = `{ _and: [${year}, { _or: ${year} }], comments: { _some: { post: ${year} } } }`;
      const rule = { 'year(published)': { _gt: 1 } };
      expect(filterIn(filter)).to.deep.equal({
        _and: [rule, { _or: [rule] }],
        comments: { _some: { post: rule } },
      });
    });

    it('filters drop the entries of missing variables', () => {
      const filter = '{ title: { _eq: $title, _contains: "a" }, author: { name: $name } }';
      const definitions = '($title: String, $name: text_operators)';
      expect(filterIn(filter, {}, definitions)).to.deep.equal({ title: { _contains: 'a' }, author: {} });
    });

    it('filters keep null as a value, and drop it in place of operators, filters and their lists', () => {
      const filter = '{ title: { _eq: null }, id: null, author: null, _and: null, _or: [null, { id: { _eq: "1" } }] }';
      expect(filterIn(filter)).to.deep.equal({ title: { _eq: null }, _or: [{ id: { _eq: '1' } }] });
      expect(filterIn('{ comments: { _some: null } }')).to.deep.equal({ comments: {} });
      expect(termsIn('{ posts(filter: null) { id } }')).to.equal(undefined);
    });

    it('filters leave JSON values unchanged', () => {
      const filter = '{ meta: { _json: $rules } }';
      const rules = { 'a.b': { _eq: 1 }, _and: [{ c: null }] };
      expect(filterIn(filter, { rules }, '($rules: JSON)')).to.deep.equal({ meta: { _json: rules } });
    });

    it('filters are read from one variable or from several', () => {
      const expected = { title: { _eq: 'x' }, 'year(published)': { _gt: 3 } };
      const variables = { filter: { title: { _eq: 'x' }, published_func: { year: { _gt: 3 } } } };
      expect(filterIn('$filter', variables, '($filter: posts_filter)')).to.deep.equal(expected);
      const definitions = '($title: String, $year: number_operators)';
      const parts = '{ title: { _eq: $title }, published_func: { year: $year } }';
      expect(filterIn(parts, { title: 'x', year: { _gt: 3 } }, definitions)).to.deep.equal(expected);
    });
  });

  describe('groups', () => {
    const groupsIn = (text: string) => translateGroupSelection(built, text);

    it('groups have list parameters, counts, aggregates and group values', () => {
      const text = `{ posts_aggregated(groupBy: ["title", "year(published)"], filter: { id: { _eq: "1" } }, sort: ["-count.id"]) {
        __typename group n: countAll count { id t: title __typename } avg { views }
      } }`;
      expect(groupsIn(text)).to.deep.equal({
        parameters: { groupBy: ['title', 'year(published)'], filter: { id: { _eq: '1' } }, sort: ['-count.id'] },
        groups: [
          { kind: 'constant', key: '__typename', value: 'posts_aggregated' },
          { kind: 'groups', key: 'group' },
          { kind: 'count', key: 'n' },
          {
            kind: 'aggregate',
            key: 'count',
            name: 'count',
            of: [
              { kind: 'field', key: 'id', field: 'id' },
              { kind: 'field', key: 't', field: 'title' },
              { kind: 'constant', key: '__typename', value: 'posts_aggregated_count' },
            ],
          },
          { kind: 'aggregate', key: 'avg', name: 'avg', of: [{ kind: 'field', key: 'views', field: 'views' }] },
        ],
      });
    });

    it('groups merge aggregates selected in several places', () => {
      expect(groupsIn('{ posts_aggregated { count { id } ... { count { title } } } }')).to.deep.equal({
        groups: [
          {
            kind: 'aggregate',
            key: 'count',
            name: 'count',
            of: [
              { kind: 'field', key: 'id', field: 'id' },
              { kind: 'field', key: 'title', field: 'title' },
            ],
          },
        ],
      });
    });
  });

  describe('limits', () => {
    it('limits count every entry as often as fragments spread it', () => {
      const levels = 10;
      const fragments = Array.from(
        { length: levels },
        (_, at) =>
          `fragment f${at} on people { a: posts { author { ...f${at + 1} } } b: posts { author { ...f${at + 1} } } }`,
      );
      const text = `{ posts { author { ...f0 } } } ${fragments.join(' ')} fragment f${levels} on people { id }`;
      let left = 2000;
      const spend = () => {
        if (left-- === 0) throw new Error('too much');
      };
      expect(() => selectionIn(text, {}, { spend, maxDepth: 1000 })).to.throw('too much');
    });

    it('limits refuse relations that are nested too deep', () => {
      const nested = (depth: number): string => (depth === 0 ? 'id' : `author { posts { ${nested(depth - 1)} } }`);
      expect(() => selectionIn(`{ posts { ${nested(2)} } }`, {}, { maxDepth: 4 })).not.to.throw();
      expect(() => selectionIn(`{ posts { ${nested(3)} } }`, {}, { maxDepth: 4 }))
        .to.throw('is 5 levels deep, more than the 4 allowed')
        .with.property('code', 'INVALID_QUERY');
    });
  });
});
