import { type Authority, authorities, listsWiden } from '#kernel';
import type { TableUse } from './contract.ts';

/** The member `database` of a manifest's capabilities. Names are tables of the first schema. */
export interface DatabaseGrant {
  /** Tables to read, write and alter. */
  readonly own?: readonly string[];
  readonly read?: readonly string[];
  /** Tables to read and write. */
  readonly write?: readonly string[];
  /** Tables to put triggers on. */
  readonly watch?: readonly string[];
  /** DDL on any table. */
  readonly ddl?: true;
  /** A schema of the plugin's own, beside those of DB_SCHEMAS: any statement on its tables, also as plain text. */
  readonly schema?: string;
  /** Any statement. The value is the reason, which the audit repeats. */
  readonly sql?: string;
}

/** Tables of PostgreSQL itself (`pg_…`) are never granted. */
const TABLE_LIST = {
  type: 'array',
  items: { type: 'string', pattern: '^(?!pg_)', minLength: 1 },
  uniqueItems: true,
} as const;

export const DATABASE_GRANT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    own: TABLE_LIST,
    read: TABLE_LIST,
    write: TABLE_LIST,
    watch: TABLE_LIST,
    ddl: { const: true },
    schema: { type: 'string', pattern: '^platform_[a-z_]+$' },
    sql: { type: 'string', minLength: 1 },
  },
} as const;

/** The lists of the grant that allow each use of a table. */
const LISTS_ALLOWING: Readonly<Record<TableUse, readonly TableUse[]>> = {
  read: ['read', 'write', 'own'],
  write: ['write', 'own'],
  own: ['own'],
  watch: ['watch', 'own'],
};

/** Whether a table handle that was created for the use `held` also allows `use`. */
export const tableHandleAllowsUse = (held: TableUse, use: TableUse): boolean => LISTS_ALLOWING[use].includes(held);

/** Whether the grant names the table for this use. */
export const isTableGranted = (grant: DatabaseGrant, table: string, use: TableUse): boolean =>
  LISTS_ALLOWING[use].some((list) => grant[list]?.includes(table));

/** What follows "may not" in the message of a denial. */
export const TABLE_DENIAL_TEXTS: Readonly<Record<TableUse, (table: string) => string>> = {
  read: (table) => `use the table ${table}`,
  write: (table) => `write to the table ${table}`,
  own: (table) => `change the table ${table}`,
  watch: (table) => `put a trigger on the table ${table}`,
};

export const describeDatabaseGrant = ({
  own,
  read,
  write,
  watch,
  ddl,
  schema,
  sql,
}: DatabaseGrant): readonly Authority[] => [
  ...authorities('owns', own),
  ...(schema ? authorities('owns', [`the schema ${schema}`]) : []),
  ...authorities('reads', read),
  ...authorities('writes', write),
  ...authorities('is notified of changes of', watch),
  ...(sql ? authorities('runs any statement', [''], sql) : []),
  ...(ddl ? authorities('changes', ['any table']) : []),
];

/** Whether the grant `after` allows more than `before`; another reason in `sql` does not count. */
export const databaseGrantWidens = (before: DatabaseGrant | undefined, after: DatabaseGrant): boolean =>
  listsWiden(before && { ...before, sql: before.sql !== undefined }, { ...after, sql: after.sql !== undefined });
