import type { BENCH_ROW_COUNTS } from '../data.ts';

/** A benchmark request as GraphQL document and as REST. With `table` it reads by a key, which is a variable of the document. */
export interface GraphqlBenchScenario {
  readonly name: string;
  /** The table whose keys take turns: each request reads by another key. */
  readonly table?: keyof typeof BENCH_ROW_COUNTS;
  /** The service's document; `$id` is the key. */
  readonly document: string;
  /** The same document for PostGraphile, whose names differ: aliases give its fields the names of the service. */
  readonly peer: string;
  /** The same read as a path of REST, with `:id` for the key. */
  readonly path: string;
  /** The same read as the body of a SEARCH request. */
  readonly search: (id: number) => object;
}

// A many-to-one is an object in GraphQL, so the key of the author is left out.
const PLAIN = ['id', 'title', 'body', 'status', 'published_at', 'views', 'price', 'meta'] as const;
const plain = PLAIN.join(' ');
const plainOfPeer = 'id: rowId title body status published_at: publishedAt views price meta';

const NESTED = [
  'id',
  'title',
  'author_id.name',
  'comments.id',
  'comments.author',
  'comments.created_at',
  'tags.tag_id.name',
] as const;

/** The measured shapes. `three levels` reads the same as the shape of this name in `../bench-scenarios.ts`. */
export const GRAPHQL_BENCH_SCENARIOS: readonly GraphqlBenchScenario[] = [
  {
    name: 'three levels',
    document: `query {
      article(limit: 25) {
        id title author_id { name } comments(limit: 5) { id author created_at } tags { tag_id { name } }
      }
    }`,
    peer: `query {
      article: allArticlesList(first: 25, orderBy: [PRIMARY_KEY_ASC]) {
        id: rowId title author_id: authorByAuthorId { name }
        comments: commentsByArticleIdList(first: 5, orderBy: [PRIMARY_KEY_ASC]) { id: rowId author created_at: createdAt }
        tags: articleTagsByArticleIdList(first: 100, orderBy: [SORT_ASC, PRIMARY_KEY_ASC]) { tag_id: tagByTagId { name } }
      }
    }`,
    path: `/items/article?limit=25&fields=${NESTED.join()}&deep[comments][_limit]=5`,
    search: () => ({ query: { limit: 25, fields: NESTED, deep: { comments: { _limit: 5 } } } }),
  },
  {
    name: 'list 25',
    document: `query { article(limit: 25) { ${plain} } }`,
    peer: `query { article: allArticlesList(first: 25, orderBy: [PRIMARY_KEY_ASC]) { ${plainOfPeer} } }`,
    path: `/items/article?limit=25&fields=${PLAIN.join()}`,
    search: () => ({ query: { limit: 25, fields: PLAIN } }),
  },
  {
    name: 'by id',
    table: 'article',
    document: `query ($id: ID!) { article: article_by_id(id: $id) { ${plain} } }`,
    peer: `query ($id: Int!) { article: articleByRowId(rowId: $id) { ${plainOfPeer} } }`,
    path: `/items/article/:id?fields=${PLAIN.join()}`,
    search: (id) => ({ keys: [id], query: { fields: PLAIN } }),
  },
  {
    name: 'by variable',
    table: 'author',
    document: `query ($id: ID) {
      article(limit: 25, filter: { author_id: { id: { _eq: $id } } }) { id title status views }
    }`,
    peer: `query ($id: Int!) {
      article: allArticlesList(first: 25, orderBy: [PRIMARY_KEY_ASC], condition: { authorId: $id }) {
        id: rowId title status views
      }
    }`,
    path: '/items/article?limit=25&fields=id,title,status,views&filter[author_id][_eq]=:id',
    search: (id) => ({
      query: { limit: 25, fields: ['id', 'title', 'status', 'views'], filter: { author_id: { _eq: id } } },
    }),
  },
];
