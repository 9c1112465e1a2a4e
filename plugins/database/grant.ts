import { type Authority, authorities, listsWiden } from '#kernel';
import type { TableUse } from './contract.ts';

/** What a manifest says under `database`. Tables are those of the first schema. */
export interface DatabaseGrant {
  /** To read, write and change. */
  readonly own?: readonly string[];
  readonly read?: readonly string[];
  /** To read and write. */
  readonly write?: readonly string[];
  /** To put triggers on. */
  readonly watch?: readonly string[];
  /** Changes of any table. */
  readonly ddl?: true;
  /** Any statement: the reason why. */
  readonly sql?: string;
}

/** Tables of PostgreSQL itself are never granted. */
const TABLE_LIST = {
  type: 'array',
  items: { type: 'string', pattern: '^(?!pg_)', minLength: 1 },
  uniqueItems: true,
} as const;

export const GRANT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    own: TABLE_LIST,
    read: TABLE_LIST,
    write: TABLE_LIST,
    watch: TABLE_LIST,
    ddl: { const: true },
    sql: { type: 'string', minLength: 1 },
  },
} as const;

/** Lists of the grant that allow a use of a table. */
const LISTS_ALLOWING: Readonly<Record<TableUse, readonly TableUse[]>> = {
  read: ['read', 'write', 'own'],
  write: ['write', 'own'],
  own: ['own'],
  watch: ['watch', 'own'],
};

/** Does a handle, or a list of the grant, for `held` allow `use`? */
export const handleAllows = (held: TableUse, use: TableUse): boolean => LISTS_ALLOWING[use].includes(held);

/** Does the grant name the table for this use? */
export const grants = (grant: DatabaseGrant, table: string, use: TableUse): boolean =>
  LISTS_ALLOWING[use].some((list) => grant[list]?.includes(table));

/** "may not …": the same words wherever a table is refused. */
export const REFUSED: Readonly<Record<TableUse, (table: string) => string>> = {
  read: (table) => `use the table ${table}`,
  write: (table) => `write to the table ${table}`,
  own: (table) => `change the table ${table}`,
  watch: (table) => `put a trigger on the table ${table}`,
};

export const describeGrant = ({ own, read, write, watch, ddl, sql }: DatabaseGrant): readonly Authority[] => [
  ...authorities('owns', own),
  ...authorities('reads', read),
  ...authorities('writes', write),
  ...authorities('is notified of changes of', watch),
  ...(sql ? authorities('runs any statement', [''], sql) : []),
  ...(ddl ? authorities('changes', ['any table']) : []),
];

/** Another wording of the reason allows nothing more. */
export const grantWidens = (before: DatabaseGrant | undefined, after: DatabaseGrant): boolean =>
  listsWiden(before && { ...before, sql: before.sql !== undefined }, { ...after, sql: after.sql !== undefined });
