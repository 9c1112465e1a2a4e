import { quoteLiteral } from '../database/library.ts';
import { ROW_FEED_TRIGGERS } from '../schema/library.ts';

/** The bus channel of the feed. */
export const FEED_CHANNEL = 'rows.feed';

/** Rows of one statement that are announced by their keys; a statement with more is announced as `many`. */
const MAX_ROWS = 5000;
/** A message of NOTIFY has less than 8,000 bytes, with what the bus and this function put around the content. */
const MAX_INLINE_BYTES = 7000;
/** Larger contents are announced as `many`. */
const MAX_STORED_BYTES = 4_194_304;

/**
 * SQL of the key of the row `row`: a list of the texts of its columns. The first argument of the trigger is no column. A bare `row` could be a
 * column of that name.
 */
const keySql = (
  row: string,
): string => `case when tg_nargs = 2 then jsonb_build_array(to_jsonb(${row}.*) ->> tg_argv[1])
    else (select jsonb_agg(to_jsonb(${row}.*) ->> u.name order by u.at) from unnest(tg_argv) with ordinality u(name, at) where u.at > 1) end`;

/** SQL of an old row: its key and its text. The text is no JSON inside of the message, so that no parser rounds its numbers. */
const OLD_ROW = `jsonb_build_array(${keySql('o')}, to_jsonb(o.*)::text)`;

/** SQL of the id of the next message. A server that was started anew, or another one, gives other ids. */
export const renderMessageIdSql = (schema: string): string =>
  `to_hex(extract(epoch from pg_postmaster_start_time())::int8) || '-' || nextval(${quoteLiteral(`${schema}.platform_row_feed_ids`)})`;

const UPDATED_ROWS = `jsonb_build_object(
      'k', (select jsonb_agg(${keySql('n')}) from new_rows n),
      'g', (select jsonb_agg(${OLD_ROW}) from old_rows o where ${keySql('o')} not in (select ${keySql('n')} from new_rows n)),
      'o', case when tg_argv[0] = 'old' then (select jsonb_agg(${OLD_ROW}) from old_rows o) end)`;

/**
 * The body of the function that all triggers run: announces a statement with the keys of its rows, and with old rows where these are
 * needed. It runs with the rights of its owner, because clients that write to a table have none on the tables of the feed. A content
 * that is too long for a message is stored, and the message refers to it.
 */
export const renderFunctionBody = (schema: string): string => `
#variable_conflict use_variable
declare
  rows int8;
  body jsonb;
  content text;
  message_id text;
begin
  if tg_op = 'INSERT' then
    select count(*) into rows from new_rows;
    if rows between 1 and ${MAX_ROWS} then
      body := jsonb_build_object('k', (select jsonb_agg(${keySql('n')}) from new_rows n));
    end if;
  elsif tg_op = 'UPDATE' then
    select count(*) into rows from new_rows;
    if rows between 1 and ${MAX_ROWS} then
      body := ${UPDATED_ROWS};
    end if;
  elsif tg_op = 'DELETE' then
    select count(*) into rows from old_rows;
    if rows between 1 and ${MAX_ROWS} then
      body := jsonb_build_object('g', (select jsonb_agg(${OLD_ROW}) from old_rows o));
    end if;
  end if;
  if rows = 0 then
    return null;
  end if;
  message_id := ${renderMessageIdSql(schema)};
  content := body::text;
  if octet_length(content) > ${MAX_STORED_BYTES} then
    content := null;
  elsif octet_length(content) > ${MAX_INLINE_BYTES} then
    insert into ${schema}.platform_row_feed_messages (id, content) values (message_id, content);
    content := '"stored"';
  end if;
  perform pg_notify('platform_bus', '{"channel":"${FEED_CHANNEL}","payload":{"i":"' || message_id || '","t":' || tg_relid || ',"e":"' || lower(left(tg_op, 1)) || '","c":' || coalesce(content, 'null') || '}}');
  return null;
end`;

/** The argument of triggers that says whether rows before an update are announced. */
export const triggerArguments = (withOldRows: boolean, keyColumns: readonly string[]): readonly string[] => [
  withOldRows ? 'old' : 'keys',
  ...keyColumns,
];

/** The statements that create the triggers of one table. They also run in sessions whose `session_replication_role` is `replica`. */
export function renderTriggers(table: string, functionName: string, args: readonly string[]): readonly string[] {
  const run = `for each statement execute function ${functionName}(${args.map(quoteLiteral).join(', ')})`;
  const { insert, update, delete: deletion, truncate } = ROW_FEED_TRIGGERS;
  return [
    `create or replace trigger ${insert} after insert on ${table} referencing new table as new_rows ${run}`,
    `create or replace trigger ${update} after update on ${table} referencing old table as old_rows new table as new_rows ${run}`,
    `create or replace trigger ${deletion} after delete on ${table} referencing old table as old_rows ${run}`,
    `create or replace trigger ${truncate} after truncate on ${table} ${run}`,
    ...Object.values(ROW_FEED_TRIGGERS).map((name) => `alter table ${table} enable always trigger ${name}`),
  ];
}

export const FEED_TRIGGER_NAMES: readonly string[] = Object.values(ROW_FEED_TRIGGERS);
