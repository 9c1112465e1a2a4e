import { BENCH_SCENARIOS, type BenchScenario } from '../bench-scenarios.ts';

const COLUMNS = 'id, title, body, status, author_id, published_at, views, price, meta';
const WRITTEN = 'title, body, status, author_id, published_at, views, price, meta';

const rows = (statement: string): string =>
  `select coalesce(json_agg(row_to_json(r)), '[]')::text as data from (${statement}) r`;

/** Copies a shape of `../bench-scenarios.ts` with the same request, another aim and the statement of the bare server. */
function like(name: string, aim: number, statement: string, params?: BenchScenario['params']): BenchScenario {
  const shape = BENCH_SCENARIOS.find((one) => one.name === name) as BenchScenario;
  const { like: _like, params: _params, ...request } = shape;
  return { ...request, aim, ideal: statement, ...(params ? { params } : {}) };
}

/** Fields of the GraphQL document, without the author, which is an object in GraphQL. */
const IN_DOCUMENT = 'id title body status published_at views price meta';

/**
 * The statements of the bare server: one prepared statement per request, whose JSON has the format of PostgreSQL instead of that
 * of the API. They record no history, and a batch goes into the statement as the text that arrived.
 */
export const BARE_SERVER_SCENARIOS: readonly BenchScenario[] = [
  like(
    'read one',
    1.5,
    `select row_to_json(r)::text as data from (select ${COLUMNS} from article where id = $1::int) r`,
    (id) => [id],
  ),
  like('list 25', 1.2, rows(`select ${COLUMNS} from article order by id limit 25`)),
  like(
    'filtered and sorted',
    1.3,
    rows(
      `select ${COLUMNS} from article where status = $1 and views > $2::int order by published_at desc, id limit 25`,
    ),
    () => ['published', 5000],
  ),
  {
    ...like(
      'published by rule',
      1.5,
      rows(
        `select id, title, status, author_id, published_at, views from article where status = $1 order by id limit 25`,
      ),
      () => ['published'],
    ),
    name: 'list by rule and fields',
  },
  {
    name: 'GraphQL list 25',
    kind: 'list',
    aim: 1.3,
    method: 'POST',
    path: '/graphql',
    body: () => ({ query: `{ article(limit: 25) { ${IN_DOCUMENT} } }` }),
    ideal: `select json_build_object('article', coalesce(json_agg(row_to_json(r)), '[]'))::text as data from
      (select ${IN_DOCUMENT.replaceAll(' ', ', ')} from article order by id limit 25) r`,
  },
  like(
    'create one',
    2.2,
    `insert into note as n (${WRITTEN}) values ($1, $2, $3, $4, $5, $6, $7, $8) returning row_to_json(n)::text as data`,
    (_id, body: Readonly<Record<string, unknown>>) =>
      WRITTEN.split(', ').map((name) => (name === 'meta' ? JSON.stringify(body.meta) : body[name])),
  ),
  like(
    'update one',
    2.2,
    'update draft as d set title = $2, views = $3 where id = $1 returning row_to_json(d)::text as data',
    (id, { title, views }: Readonly<Record<string, unknown>>) => [id, title, views],
  ),
  like(
    'create 1000',
    2,
    `with made as (insert into import as i (${WRITTEN})
      select ${WRITTEN} from json_populate_recordset(null::import, $1::json) returning row_to_json(i) as row)
     select json_agg(row)::text as data from made`,
  ),
];
