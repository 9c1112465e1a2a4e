/** Pieces of the hand-written statements. */

/** SQL that returns the rows of a sub-select as one JSON list, in the order of the sub-select. */
export const jsonListSql = (rows: string): string =>
  `select coalesce('[' || string_agg(row_to_json(r)::text, ',') || ']', '[]') as data from (${rows}) r`;

/** SQL for a related row as a JSON object. */
export const jsonObjectSql = (columns: string): string => `(select row_to_json(o) from (select ${columns}) o)`;

/** SQL that formats a timestamp as the API does. */
export const isoTimestampSql = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL for the columns of an article, or of a table shaped like it, as the API formats them. */
export const articleJsonSql = (alias: string): string =>
  `${alias}.id, ${alias}.title, ${alias}.body, ${alias}.status, ${alias}.author_id, ${isoTimestampSql(`${alias}.published_at`)} as published_at,
   ${alias}.views, ${alias}.price::text as price, ${alias}.meta`;

const COLUMNS = 'title, body, status, author_id, published_at, views, price, meta';

/** SQL for the row `m` as the API formats it, which is also what its revision holds. */
const answered = `(select row_to_json(x) from (select ${articleJsonSql('m')}) x) as j`;

/**
 * SQL that records the rows of `changed` (id, j: the row as the API formats it, delta: its changes, null for a new row) as activity
 * and revisions, and returns `answer`. The parameters from `$first` on are user, address and user agent.
 */
const recorded = (table: string, action: string, first: number, answer: string): string => `
  noted as materialized (
    select c.*, nextval('ideal_activity_id_seq')::int as activity from changed c),
  activity as (
    insert into ideal_activity (id, action, "user", ip, user_agent, collection, item)
    select n.activity, '${action}', $${first}::uuid, $${first + 1}::text, $${first + 2}::text, '${table}', n.id::text from noted n),
  revision as (
    insert into ideal_revisions (activity, collection, item, data, delta)
    select n.activity, '${table}', n.id::text, n.j, n.delta from noted n)
  select ${answer} as data from noted n`;

const ONE = 'n.j::text';
const LIST = `'[' || string_agg(n.j::text, ',' order by n.id) || ']'`;

/** Statement that inserts one row. Parameters: eight values, then user, address and user agent. */
export const insertOneWithHistorySql = (table: string): string => `
  with changed as (
    insert into ${table} as m (${COLUMNS}) values ($1, $2, $3, $4::int, $5::timestamptz, $6::int, $7::numeric, $8::jsonb)
    returning m.id, ${answered}, null::json as delta),
  ${recorded(table, 'create', 9, ONE)}`;

/** Statement that updates the title and views of one row. Parameters: key, two values, then user, address and user agent. */
export const updateOneWithHistorySql = (table: string): string => `
  with changed as (
    update ${table} m set title = $2, views = $3::int where m.id = $1::int
    returning m.id, ${answered}, ${jsonObjectSql('m.title, m.views')} as delta),
  ${recorded(table, 'update', 4, ONE)}`;

/** Statement that inserts many rows. Parameters: eight lists of values, then user, address and user agent. */
export const insertManyWithHistorySql = (table: string): string => `
  with changed as (
    insert into ${table} as m (${COLUMNS})
    select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::timestamptz[], $6::int[], $7::numeric[], $8::jsonb[])
    returning m.id, ${answered}, null::json as delta),
  ${recorded(table, 'create', 9, LIST)}`;
