import { expect } from 'chai';
import { type FreshDatabase, runSqlFile } from './database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from './service.ts';

/** A row in an answer or in the database, of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyRow = Record<string, any>;

/** A service in this process on an adopted database, the film rental company of `test/data/rental.sql`. */
export interface RentalTestService {
  readonly database: FreshDatabase;
  readonly service: InProcessService;
  /** Sends a request as the first admin, or with another token. */
  send(method: string, path: string, body?: unknown, token?: string): Promise<HttpReply>;
  /** Sends a request and returns `data` of the response; fails the test where the response is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: rows, lists and counts
  ok(method: string, path: string, body?: unknown, token?: string): Promise<any>;
  /** Sends a request and returns status and code of the first error. */
  code(method: string, path: string, body?: unknown, token?: string): Promise<[number, string | undefined]>;
  /** Sends a GraphQL document and returns `data`; fails the test where the response has errors. */
  // biome-ignore lint/suspicious/noExplicitAny: what the document asks for
  ask(query: string, variables?: object, token?: string): Promise<any>;
  stop(): Promise<void>;
}

export async function startRentalTestService(name: string): Promise<RentalTestService> {
  const database = await createMigratedDatabase(name);
  let service: InProcessService;
  try {
    await runSqlFile(database.url, new URL('../data/rental.sql', import.meta.url));
    service = await startService({ database, env: { DB_SCHEMAS: 'public,office' } });
  } catch (error) {
    await database.drop();
    throw error;
  }
  const send: RentalTestService['send'] = (method, path, body, token = service.admin.token) =>
    service.request(method, path, { token, body });
  return {
    database,
    service,
    send,
    async ok(method, path, body, token) {
      const reply = await send(method, path, body, token);
      expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.within(200, 204);
      return reply.body?.data;
    },
    async code(method, path, body, token) {
      const reply = await send(method, path, body, token);
      return [reply.status, reply.body?.errors?.[0].extensions.code];
    },
    async ask(query, variables, token) {
      const { body } = await send('POST', '/graphql', { query, variables }, token);
      expect(body.errors, `${query} ${JSON.stringify(body.errors)}`).to.equal(undefined);
      return body.data;
    },
    async stop() {
      await service.stop();
      await database.drop();
    },
  };
}

/** Names of the key fields of each collection, in their order; null for a collection without a key. */
export const RENTAL_KEYS: Readonly<Record<string, readonly string[] | null>> = {
  language: ['language_id'],
  category: ['category_id'],
  film: ['film_id'],
  actor: ['actor_id'],
  Store: ['storeId'],
  customer: ['customer_id'],
  film_actor: ['actor_id', 'film_id'],
  film_category: ['category_id', 'film_id'],
  film_copy: ['film_id', 'copy_no'],
  shelf: ['store', 'aisle', 'level'],
  screening: ['hall', 'shown_on'],
  ticket: ['batch', 'seat'],
  price_change: ['film_id', 'valid_from'],
  rating_sheet: ['rating', 'sheet'],
  copy_insurance: ['film_id', 'copy_no'],
  rental: ['rental_id'],
  shelf_move: ['id'],
  payment: ['paid_on', 'payment_id'],
  refund: ['refund_id'],
  message: ['channel', 'message_id'],
  loyalty: ['customer_id'],
  exchange_rate: ['currency', 'valid_on'],
  visit: null,
  film_overview: null,
  active_customer: null,
  sales_of_month: null,
  office_customer: ['code'],
  shift: ['employee', 'day'],
  shift_film: ['employee', 'day', 'film_id'],
};

export const RENTAL_COLLECTIONS = Object.keys(RENTAL_KEYS);
/** Collections with a composite key. */
export const COMPOSITE_KEY_COLLECTIONS = RENTAL_COLLECTIONS.filter((name) => (RENTAL_KEYS[name]?.length ?? 0) > 1);
export const RENTAL_VIEW_NAMES = ['film_overview', 'active_customer', 'sales_of_month'];

const OFFICE: Readonly<Record<string, string>> = {
  office_customer: 'customer',
  shift: 'shift',
  shift_film: 'shift_film',
};

/** The quoted name of a collection's table, with its schema. */
export const quotedRentalTableOf = (collection: string): string =>
  OFFICE[collection] ? `office."${OFFICE[collection]}"` : `public."${collection}"`;

export interface RentalColumn {
  readonly name: string;
  /** Type of the column as PostgreSQL's `format_type` renders it. */
  readonly type: string;
}

/** Reads the columns of a table that the service serves. */
export const readRentalColumns = (database: FreshDatabase, collection: string): Promise<RentalColumn[]> =>
  database.query<RentalColumn>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and atttypid <> 'tsvector'::regtype order by attnum`,
    [quotedRentalTableOf(collection)],
  );

/** SQL expression that renders a column's value as the API answers it. */
export function apiValueSql({ name, type }: RentalColumn, isOfKey = false): string {
  const column = `"${name}"`;
  if (type === 'bytea') return `translate(encode(${column}, 'base64'), chr(10), '')`;
  if (type === 'timestamp with time zone' && isOfKey)
    return `regexp_replace(to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '000Z$', 'Z')`;
  if (type === 'bigint' || type === 'numeric') return `${column}::text`;
  if (type === 'timestamp with time zone')
    return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return column;
}

/** SQL expression that renders the key of a row as text, as in URLs of the API. */
export function renderRentalKeySql(collection: string, columns: readonly RentalColumn[]): string {
  const parts = (RENTAL_KEYS[collection] ?? []).map((name) => {
    const isMoment = columns.find((column) => column.name === name)?.type === 'timestamp with time zone';
    const text = isMoment
      ? `to_char("${name}" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
      : `"${name}"::text`;
    return `replace(replace(${text}, '~', '~0'), ',', '~1')`;
  });
  return parts.length === 0
    ? 'null::text'
    : parts.length === 1
      ? `"${RENTAL_KEYS[collection]?.[0]}"::text`
      : parts.join(` || ',' || `);
}

export interface StoredRow {
  readonly key: string | null;
  readonly row: Readonly<Record<string, unknown>>;
}

/** Reads rows from the database as the API shows them, with their keys as text, ordered by key. `where` is SQL. */
export async function storedRows(database: FreshDatabase, collection: string, where = 'true'): Promise<StoredRow[]> {
  const columns = await readRentalColumns(database, collection);
  const shown = columns.map(
    (column) => `${apiValueSql(column, RENTAL_KEYS[collection]?.includes(column.name))} as "${column.name}"`,
  );
  const order = (RENTAL_KEYS[collection] ?? columns.map(({ name }) => name)).map((name) => `"${name}"`);
  return database.query<StoredRow>(
    `select ${renderRentalKeySql(collection, columns)} as key, (select row_to_json(s) from (select ${shown}) s) as row
     from ${quotedRentalTableOf(collection)} where ${where} order by ${order}`,
  );
}

export const itemPath = (collection: string, key: string): string => `/items/${collection}/${encodeURIComponent(key)}`;
