import { createHash } from 'node:crypto';
import { NOTIFY_CHANNEL } from '../cluster/library.ts';
import { quoteIdentifier, quoteLiteral } from '../database/library.ts';
import { ROW_FEED_FUNCTION, ROW_FEED_TRIGGERS } from '../schema/library.ts';

/** The bus channel of the feed. */
export const FEED_CHANNEL = 'rows.feed';

/** Rows of one statement that are announced by their keys; a statement with more is announced as `many`. */
const MAX_ROWS = 5000;
/** A message of NOTIFY has less than 8,000 bytes, with what the bus and this function put around the content. */
const MAX_INLINE_BYTES = 7000;
/** Larger contents are announced as `many`. */
const MAX_STORED_BYTES = 4_194_304;

/** Version of the messages. Processes of two versions of the service share triggers where this is the same. */
const FORMAT = 1;

/** Names of the functions of triggers whose messages this version understands, as a regular expression of PostgreSQL. */
export const FEED_FUNCTION_PATTERN = `^${ROW_FEED_FUNCTION}(_${FORMAT}_[0-9a-f]{8})?$`;

/** SQL of the key of the row `row`: a list of the texts of its columns. Other columns are not looked at, since their values may be long. */
const renderKey = (row: string, columns: readonly string[]): string =>
  `jsonb_build_array(${columns.map((name) => `to_jsonb(${row}.${quoteIdentifier(name)}) #>> '{}'`).join(', ')})`;

/** SQL of the id of the next message. A server that was started anew, or another one, gives other ids. */
export const renderMessageIdSql = (schema: string): string =>
  `to_hex(extract(epoch from pg_postmaster_start_time())::int8) || '-' || nextval(${quoteLiteral(`${schema}.platform_row_feed_ids`)})`;

/** SQL that sends a message without content: `many` rows of a relation, or a mark. `id` and `relation` are SQL. */
export const renderMessageSql = (id: string, relation: string, event: 'many' | 'mark'): string =>
  `pg_notify('${NOTIFY_CHANNEL}', '{"channel":"${FEED_CHANNEL}","payload":{"i":"' || ${id} || '","t":' || ${relation} || ',"e":"${event === 'many' ? 't' : 'm'}","c":null}}')`;

/** A function that triggers of tables with this key run. */
export interface FeedFunction {
  /** Name without the schema. */
  readonly name: string;
  readonly body: string;
}

/**
 * The function for tables with this key, named after its body, so that processes of two versions do not replace it in turns. It announces
 * a statement with the keys of its rows, and with old rows where these are needed. It runs with the rights of its owner, because clients
 * that write to a table have none on the tables of the feed. A content that is too long for a message is stored, and the message refers to it;
 * so is one with rows, since every role that may connect to the database can listen to messages.
 * Where the content cannot be made (a row has more than 256 MB of JSON), the statement is announced as `many` and does not fail.
 */
export function createFeedFunction(schema: string, keyColumns: readonly string[]): FeedFunction {
  const body = renderBody(schema, keyColumns);
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 8);
  return { name: `${ROW_FEED_FUNCTION}_${FORMAT}_${digest}`, body };
}

function renderBody(schema: string, keyColumns: readonly string[]): string {
  const [newKey, oldKey] = [renderKey('n', keyColumns), renderKey('o', keyColumns)];
  const keyList = keyColumns.map(quoteIdentifier).join(', ');
  // The text of an old row is no JSON inside of the message, so that no parser rounds its numbers.
  const oldRow = `jsonb_build_array(${oldKey}, to_jsonb(o.*)::text)::text`;
  const newKeys = `select count(*), string_agg(${newKey}::text, ',') into total, keys from (select ${keyList} from new_rows limit ${MAX_ROWS + 1}) n`;
  // Rows of statements that are announced as `many` are not made. Both tables have their rows in the same order, so equal lists mean that no key has changed.
  return `
#variable_conflict use_variable
declare
  total int8;
  keys text;
  old_keys text;
  gone text;
  before text;
  content text;
  message_id text;
begin
  begin
    if tg_op = 'INSERT' then
      ${newKeys};
    elsif tg_op = 'UPDATE' then
      ${newKeys};
      if total > ${MAX_ROWS} then
        null;
      elsif tg_argv[0] = 'old' then
        select string_agg(${oldKey}::text, ','), string_agg(${oldRow}, ',') into old_keys, before from old_rows o;
      else
        select string_agg(${oldKey}::text, ',') into old_keys from old_rows o;
      end if;
      if old_keys <> keys then
        select string_agg(${oldRow}, ',') into gone from old_rows o where ${oldKey} not in (select ${newKey} from new_rows n);
      end if;
    elsif tg_op = 'DELETE' then
      select count(*) into total from (select from old_rows limit ${MAX_ROWS + 1}) o;
      if total <= ${MAX_ROWS} then
        select string_agg(${oldRow}, ',') into gone from old_rows o;
      end if;
    end if;
    if total = 0 then
      return null;
    end if;
    content := '{"k":[' || coalesce(keys, '') || '],"g":[' || coalesce(gone, '') || '],"o":[' || coalesce(before, '') || ']}';
    if total is null or total > ${MAX_ROWS} or octet_length(content) > ${MAX_STORED_BYTES} then
      content := null;
    end if;
  exception when others then
    content := null;
  end;
  message_id := ${renderMessageIdSql(schema)};
  if octet_length(content) > ${MAX_INLINE_BYTES} or (content is not null and (gone is not null or before is not null)) then
    insert into ${schema}.platform_row_feed_messages (id, content) values (message_id, content);
    content := '"stored"';
  end if;
  perform pg_notify('${NOTIFY_CHANNEL}', '{"channel":"${FEED_CHANNEL}","payload":{"i":"' || message_id || '","t":' || tg_relid || ',"e":"' || lower(left(tg_op, 1)) || '","c":' || coalesce(content, 'null') || '}}');
  return null;
end`;
}

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
