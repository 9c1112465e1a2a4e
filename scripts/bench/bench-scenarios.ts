import { type BENCH_ROW_COUNTS, scaledRowCount } from './data.ts';
import {
  articleJsonSql,
  insertManyWithHistorySql,
  insertOneWithHistorySql,
  isoTimestampSql,
  jsonListSql,
  jsonObjectSql,
  updateOneWithHistorySql,
} from './sql.ts';

type Body = Readonly<Record<string, unknown>>;

export interface BenchScenario {
  readonly name: string;
  /** Which aim of `report.ts` counts where `aim` is left out. */
  readonly kind: 'one' | 'list' | 'write' | 'batch';
  readonly method: 'GET' | 'SEARCH' | 'POST' | 'PATCH';
  /** `:id` stands for a key of `table`, another one in each request. */
  readonly path: string;
  readonly table?: keyof typeof BENCH_ROW_COUNTS;
  /** The body of the `n`-th request. */
  readonly body?: (n: number) => unknown;
  /** The caller, an admin by default. The ideal server identifies no caller. */
  readonly as?: 'editor';
  /** Measured in the same rounds as the shape of this name and compared with it. */
  readonly like?: string;
  /** The table to which a write goes. */
  readonly target?: string;
  /** Largest allowed ratio of CPU time per request to that of the other server. */
  readonly aim?: number;
  /** The hand-written statement: columns `data` and, where asked for, `meta`. */
  readonly ideal: string;
  /** The parameters of the statement, taken from the request. */
  readonly params?: (id: string, body: never) => readonly unknown[];
}

const PLAIN = 'id,title,body,status,author_id,published_at,views,price,meta';
const EDITORS = 'id,title,status,author_id,published_at,views';
const editors = `a.id, a.title, a.status, a.author_id, ${isoTimestampSql('a.published_at')} as published_at, a.views`;
const published = `select ${editors} from article a where a.status = $1 order by a.id limit 25`;
const get = { kind: 'list', method: 'GET' } as const;

/** What every write is recorded with: user, address, user agent. */
const WHO = ['4a0b8a5e-8a7e-4d9b-9a53-4f6d1f9b2c11', '127.0.0.1', 'bench'] as const;

const values = (row: Body): readonly unknown[] =>
  ['title', 'body', 'status', 'author_id', 'published_at', 'views', 'price'].map((name) => row[name]);

const payload = (n: number) => ({
  title: `Note ${n}`,
  body: `${'Of what was said at the harbour. '.repeat(31)}`,
  status: 'draft',
  author_id: 1 + (n % 50),
  published_at: '2026-03-01T12:30:00.000Z',
  views: n % 10_000,
  price: '12.50',
  meta: { words: n % 300, language: 'en', flags: [1, 2] },
});

/** The measured shapes. Both servers must answer a read with the same bytes. */
export const BENCH_SCENARIOS: readonly BenchScenario[] = [
  {
    ...get,
    name: 'read one',
    kind: 'one',
    path: `/items/article/:id?fields=${PLAIN}`,
    table: 'article',
    ideal: `select row_to_json(r)::text as data from (select ${articleJsonSql('a')} from article a where a.id = $1::int) r`,
    params: (id) => [id],
  },
  {
    ...get,
    name: 'list 25',
    path: `/items/article?limit=25&fields=${PLAIN}`,
    ideal: jsonListSql(`select ${articleJsonSql('a')} from article a order by a.id limit 25`),
  },
  {
    ...get,
    name: 'list 25 with keys of to-many',
    path: '/items/article?limit=25',
    ideal: jsonListSql(`select ${articleJsonSql('a')},
        (select coalesce(json_agg(k.id), '[]') from (select c.id from comment c where c.article_id = a.id order by c.id limit 100) k) as comments,
        (select coalesce(json_agg(k.id), '[]') from (select j.id from article_tag j where j.article_id = a.id order by j.sort, j.id limit 100) k) as tags
      from (select * from article order by id limit 25) a order by a.id`),
  },
  {
    ...get,
    name: 'filtered and sorted',
    path: `/items/article?limit=25&fields=${PLAIN}&filter[status][_eq]=published&filter[views][_gt]=5000&sort=-published_at`,
    ideal: jsonListSql(`select ${articleJsonSql('a')} from article a where a.status = $1 and a.views > $2::int
      order by a.published_at desc, a.id limit 25`),
    params: () => ['published', 5000],
  },
  {
    ...get,
    name: 'many-to-one',
    path: '/items/article?limit=25&fields=id,title,views,author_id.name,author_id.country',
    ideal:
      jsonListSql(`select a.id, a.title, a.views, case when u.id is not null then ${jsonObjectSql('u.name, u.country')} end as author_id
      from (select * from article order by id limit 25) a left join author u on u.id = a.author_id order by a.id`),
  },
  {
    ...get,
    name: 'three levels',
    path: '/items/article?limit=25&fields=id,title,author_id.name,comments.id,comments.author,comments.created_at,tags.tag_id.name&deep[comments][_limit]=5',
    ideal:
      jsonListSql(`select a.id, a.title, case when u.id is not null then ${jsonObjectSql('u.name')} end as author_id,
        (select coalesce(json_agg(row_to_json(k)), '[]') from (select c.id, c.author, ${isoTimestampSql('c.created_at')} as created_at
          from comment c where c.article_id = a.id order by c.id limit 5) k) as comments,
        (select coalesce(json_agg(row_to_json(k)), '[]') from (select case when t.id is not null then ${jsonObjectSql('t.name')} end as tag_id
          from (select * from article_tag j where j.article_id = a.id order by j.sort, j.id limit 100) j
          left join tag t on t.id = j.tag_id order by j.sort, j.id) k) as tags
      from (select * from article order by id limit 25) a left join author u on u.id = a.author_id order by a.id`),
  },
  {
    ...get,
    name: 'count of comments',
    path: '/items/article?limit=25&fields=id,title,count(comments)',
    ideal:
      jsonListSql(`select a.id, a.title, (select count(*) from comment c where c.article_id = a.id) as comments_count
      from (select * from article order by id limit 25) a order by a.id`),
  },
  {
    ...get,
    name: 'total and filter count',
    path: '/items/article?limit=25&fields=id,title&filter[status][_eq]=published&meta=*',
    ideal: `select (${jsonListSql('select a.id, a.title from article a where a.status = $1 order by a.id limit 25')}) as data,
      json_build_object('total_count', (select count(*) from article), 'filter_count', (select count(*) from article where status = $1))::text as meta`,
    params: () => ['published'],
  },
  {
    ...get,
    name: 'aggregate by status',
    path: '/items/article?aggregate[count]=*&aggregate[avg]=views&groupBy=status',
    ideal: jsonListSql(`select a.status, count(*) as count, ${jsonObjectSql('avg(a.views) as views')} as avg
      from article a group by a.status order by a.status limit 100`),
  },
  {
    ...get,
    name: 'count by year',
    path: '/items/article?aggregate[count]=id&groupBy=year(published_at)',
    ideal:
      jsonListSql(`select extract(year from a.published_at at time zone 'UTC')::int as published_at_year, ${jsonObjectSql('count(a.id) as id')} as count
      from article a group by 1 order by 1 limit 100`),
  },
  {
    ...get,
    name: 'search',
    path: '/items/author?limit=25&fields=id,name,email&search=author999',
    ideal: jsonListSql(`select a.id, a.name, a.email from author a
      where a.name ilike $1 or a.email ilike $1 or a.country ilike $1 or a.biography ilike $1 order by a.id limit 25`),
    params: () => ['%author999%'],
  },
  {
    ...get,
    name: 'some comment by',
    path: '/items/article?limit=25&fields=id,title&filter[comments][_some][author][_eq]=reader%2042',
    ideal: jsonListSql(`select a.id, a.title from article a
      where exists (select 1 from comment c where c.article_id = a.id and c.author = $1) order by a.id limit 25`),
    params: () => ['reader 42'],
  },
  {
    ...get,
    name: 'sorted and filtered by m2o',
    path: '/items/article?limit=25&fields=id,title,views&filter[author_id][country][_eq]=AT&filter[views][_lt]=200&sort=author_id.name,-views',
    ideal: jsonListSql(`select a.id, a.title, a.views from article a join author u on u.id = a.author_id
      where u.country = $1 and a.views < $2::int order by u.name, a.views desc, a.id limit 25`),
    params: () => ['AT', 200],
  },
  {
    ...get,
    name: 'SEARCH second page',
    method: 'SEARCH',
    path: '/items/article',
    body: () => ({
      query: {
        fields: ['id', 'title', 'views'],
        filter: { author_id: { _in: [3, 5, 7, 11, 13] } },
        sort: ['-views'],
        limit: 10,
        page: 2,
      },
    }),
    ideal: jsonListSql(`select a.id, a.title, a.views from article a where a.author_id = any($1::int[])
      order by a.views desc, a.id limit $2::int offset $3::int`),
    params: (_id, { query }: { query: { filter: { author_id: { _in: number[] } }; limit: number; page: number } }) => [
      query.filter.author_id._in,
      query.limit,
      query.limit * (query.page - 1),
    ],
  },
  {
    ...get,
    name: '10000 rows',
    path: `/items/article?limit=10000&fields=${PLAIN}`,
    ideal: jsonListSql(`select ${articleJsonSql('a')} from article a order by a.id limit 10000`),
  },
  {
    ...get,
    name: 'published as admin',
    path: `/items/article?limit=25&fields=${EDITORS}&filter[status][_eq]=published`,
    ideal: jsonListSql(published),
    params: () => ['published'],
  },
  {
    ...get,
    name: 'published by rule',
    as: 'editor',
    like: 'published as admin',
    path: `/items/article?limit=25&fields=${EDITORS}`,
    ideal: jsonListSql(published),
    params: () => ['published'],
  },
  {
    name: 'create one',
    kind: 'write',
    method: 'POST',
    path: '/items/note',
    target: 'note',
    body: payload,
    ideal: insertOneWithHistorySql('note'),
    params: (_id, row: Body) => [...values(row), JSON.stringify(row.meta), ...WHO],
  },
  {
    name: 'update one',
    kind: 'write',
    method: 'PATCH',
    path: '/items/draft/:id',
    table: 'draft',
    target: 'draft',
    body: (n) => ({ title: `Draft ${n}`, views: n }),
    ideal: updateOneWithHistorySql('draft'),
    params: (id, { title, views }: Body) => [id, title, views, ...WHO],
  },
  {
    name: 'create 1000',
    kind: 'batch',
    method: 'POST',
    path: '/items/import',
    target: 'import',
    body: (n) => Array.from({ length: 1000 }, (_, at) => payload(n + at)),
    ideal: insertManyWithHistorySql('import'),
    params(_id, rows: readonly Body[]) {
      const columns = rows.map(values);
      return [
        ...[0, 1, 2, 3, 4, 5, 6].map((column) => columns.map((row) => row[column])),
        rows.map((row) => JSON.stringify(row.meta)),
        ...WHO,
      ];
    },
  },
];

export const isWriteBenchScenario = ({ kind }: BenchScenario): boolean => kind === 'write' || kind === 'batch';

export interface BenchRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** The key in the path of the `n`-th request: spread over the table, so that consecutive requests read different rows. */
export const benchRowKeyOf = (table: keyof typeof BENCH_ROW_COUNTS, n: number, scale: number): number =>
  1 + ((n * 7919) % scaledRowCount(table, scale));

/** The `n`-th request of a shape. */
export function buildBenchRequest(
  { method, path, table, body }: BenchScenario,
  n: number,
  scale: number,
): BenchRequest {
  const id = table ? benchRowKeyOf(table, n, scale) : 0;
  return { method, path: path.replace(':id', String(id)), ...(body ? { body: body(n) } : {}) };
}
