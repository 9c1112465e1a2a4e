/** Pieces of the hand-written statements. */

/** Rows as the JSON list of an answer; the rows of a sub-select in the order it gives. */
export const jsonListSql = (rows: string): string =>
  `select coalesce('[' || string_agg(row_to_json(r)::text, ',') || ']', '[]') as data from (${rows}) r`;

/** A related row as a JSON object. */
export const jsonObjectSql = (columns: string): string => `(select row_to_json(o) from (select ${columns}) o)`;

/** A timestamp as it is answered. */
export const moment = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Columns of an article, or of a table shaped like it, as they are answered. */
export const articleJsonSql = (alias: string): string =>
  `${alias}.id, ${alias}.title, ${alias}.body, ${alias}.status, ${alias}.author_id, ${moment(`${alias}.published_at`)} as published_at,
   ${alias}.views, ${alias}.price::text as price, ${alias}.meta`;

const COLUMNS = 'title, body, status, author_id, published_at, views, price, meta';

/** The row `m` as it is answered, which is also what is recorded of it. */
const answered = `(select row_to_json(x) from (select ${articleJsonSql('m')}) x) as j`;

/**
 * Records what `changed` (id, j: the row as it is answered, delta: what changed of it, null for all) holds and answers:
 * who did it are the parameters from `$first` on (user, address, user agent).
 */
const recorded = (table: string, action: string, first: number, answer: string): string => `
  noted as materialized (
    select c.*, c.j::jsonb as data, nextval('ideal_activity_id_seq')::int as activity from changed c),
  activity as (
    insert into ideal_activity (id, action, "user", ip, user_agent, collection, item)
    select n.activity, '${action}', $${first}::uuid, $${first + 1}::text, $${first + 2}::text, '${table}', n.id::text from noted n),
  revision as (
    insert into ideal_revisions (activity, collection, item, data, delta)
    select n.activity, '${table}', n.id::text, n.data, coalesce(n.delta::jsonb, n.data) from noted n)
  select ${answer} as data from noted n`;

const ONE = 'n.j::text';
const LIST = `'[' || string_agg(n.j::text, ',' order by n.id) || ']'`;

/** One new row: eight values, then who. */
export const createOne = (table: string): string => `
  with changed as (
    insert into ${table} as m (${COLUMNS}) values ($1, $2, $3, $4::int, $5::timestamptz, $6::int, $7::numeric, $8::jsonb)
    returning m.id, ${answered}, null::json as delta),
  ${recorded(table, 'create', 9, ONE)}`;

/** The title and views of one row: key, two values, then who. */
export const updateOne = (table: string): string => `
  with changed as (
    update ${table} m set title = $2, views = $3::int where m.id = $1::int
    returning m.id, ${answered}, ${jsonObjectSql('m.title, m.views')} as delta),
  ${recorded(table, 'update', 4, ONE)}`;

/** Many new rows: eight lists of values, then who. */
export const createMany = (table: string): string => `
  with changed as (
    insert into ${table} as m (${COLUMNS})
    select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::timestamptz[], $6::int[], $7::numeric[], $8::jsonb[])
    returning m.id, ${answered}, null::json as delta),
  ${recorded(table, 'create', 9, LIST)}`;
