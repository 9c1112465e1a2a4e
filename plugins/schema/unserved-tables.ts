import type { Db } from '../database/contract.ts';
import { type SchemaOverview, SYSTEM_COLLECTION_PREFIX, type UnservedTable } from './contract.ts';
import type { DeclaredCollections } from './system/declarations.ts';

/** The table of migrations, which the plugin `database` creates. */
const MIGRATIONS_TABLE = `${SYSTEM_COLLECTION_PREFIX}migrations`;

/** SQL of all tables and views of the served schemas, each with whether the database role may use its schema and read it. */
const TABLES = `
select n.nspname as schema, c.relname as name, current_user as role, has_schema_privilege(n.oid, 'usage') as enters,
  has_table_privilege(c.oid, 'select') or has_any_column_privilege(c.oid, 'select') as reads
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  and c.relpersistence <> 't' and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
order by array_position($1::text[], n.nspname::text), c.relname`;

interface CatalogRow {
  readonly schema: string;
  readonly name: string;
  readonly role: string;
  readonly enters: boolean;
  readonly reads: boolean;
}

/** Tables and views that no request can read, each with the reason (ADR 42), but for those that an admin excludes. Runs one statement. */
export async function findUnservedTables(
  db: Pick<Db, 'query' | 'schemas' | 'ownedTables'>,
  snapshot: SchemaOverview,
  declared: DeclaredCollections,
  isExcluded: (table: { readonly schema: string; readonly name: string }) => boolean = () => false,
): Promise<readonly UnservedTable[]> {
  const { rows } = await db.query<CatalogRow>(TABLES, [db.schemas]);
  const owned = db.ownedTables();
  const served = new Map([...snapshot.collections.values()].map((one) => [tableKey(one.table), one]));
  return rows.flatMap((row) => {
    const { schema, name } = row;
    const isOwn = schema === db.schemas[0] && (declared.has(name) || owned.has(name) || name === MIGRATIONS_TABLE);
    const reason = isOwn || isExcluded(row) ? undefined : findReason(row, served.get(tableKey(row)));
    return reason === undefined ? [] : { schema, name, reason };
  });
}

const tableKey = (table: { readonly schema: string; readonly name: string } | null): string =>
  JSON.stringify(table && [table.schema, table.name]);

type ServedCollection = NonNullable<ReturnType<SchemaOverview['collections']['get']>>;

function findReason({ schema, name, role, enters, reads }: CatalogRow, collection: ServedCollection | undefined) {
  if (!enters) return `the database role ${role} may not use the schema ${schema}: grant usage on it`;
  if (!reads) return `the database role ${role} may not read it: grant select on it`;
  if (!collection)
    return name.startsWith(SYSTEM_COLLECTION_PREFIX)
      ? `names that begin with ${SYSTEM_COLLECTION_PREFIX} are reserved for the service: rename it`
      : `its collection would be ${schema}_${name}, and names that begin with ${SYSTEM_COLLECTION_PREFIX} are reserved for the service: rename it`;
  return undefined;
}

const MAX_NAMES = 20;

/** The warning about unserved tables that is logged at the start. It names at most twenty tables, in at most 4,000 characters. */
export function renderUnservedTablesWarning(tables: readonly UnservedTable[]): string {
  const named = tables.slice(0, MAX_NAMES).map(({ schema, name, reason }) => `${schema}.${name} (${reason})`);
  const rest = tables.length - named.length;
  const more = rest > 0 ? `; and ${rest} more, which GET /collections names` : '';
  return `${tables.length} of the database's tables are not served: ${named.join('; ')}${more}`.slice(0, 4000);
}
