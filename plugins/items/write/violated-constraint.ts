import type { Db } from '../../database/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import type { PostgresError } from './postgres-error.ts';

/** A constraint that rejected a row. */
export interface ViolatedConstraint {
  /** As PostgreSQL writes it: `CHECK (price > 0)`. */
  readonly definition: string;
  /** Columns of the table in the constraint; for a domain, columns of its type. */
  readonly columns: readonly string[];
  readonly isOfDomain: boolean;
  /** The constraint reads the row as a whole, so it may depend on any column. */
  readonly isOfRow: boolean;
}

/** Constraints of a table, with their columns and those of their expressions. */
const TABLE_CONSTRAINT_SQL = `
select pg_get_constraintdef(k.oid, true) as definition,
  k.contype = 'c' and (k.conkey is null or 0 = any(k.conkey)) as whole,
  (select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_attribute a
    where a.attrelid = k.conrelid and a.attnum > 0 and (a.attnum = any(k.conkey) or exists (
      select from pg_depend d where d.refclassid = 'pg_class'::regclass and d.refobjid = k.conrelid and d.refobjsubid = a.attnum
        and (d.classid, d.objid) in (('pg_constraint'::regclass, k.oid), ('pg_class'::regclass, k.conindid))))) as columns
from pg_constraint k join pg_class r on r.oid = k.conrelid join pg_namespace n on n.oid = r.relnamespace
where n.nspname = $1 and r.relname = $2 and k.conname = $3`;

/** Constraints of a domain or its base domains, with the columns of the table that have it. */
const DOMAIN_CONSTRAINT_SQL = `
with recursive chain as (
  select t.oid, t.oid as domain, t.typbasetype from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where n.nspname = $4 and t.typname = $5
  union all
  select t.oid, c.domain, t.typbasetype from chain c join pg_type t on t.oid = c.typbasetype where t.typtype = 'd')
select pg_get_constraintdef(k.oid, true) as definition, false as whole,
  (select coalesce(json_agg(a.attname order by a.attnum), '[]')
    from pg_attribute a join pg_class r on r.oid = a.attrelid join pg_namespace n on n.oid = r.relnamespace
    where n.nspname = $1 and r.relname = $2 and a.attnum > 0 and not a.attisdropped and a.atttypid = c.domain) as columns
from chain c join pg_constraint k on k.contypid = c.oid where k.conname = $3`;

/**
 * Reads a violated constraint from the catalog. The schema snapshot has no constraints, since only a rejected write
 * needs them.
 */
export async function findViolatedConstraint(
  db: Db,
  { table: ownTable }: Collection,
  { schema, table, dataType, constraint }: PostgresError,
): Promise<ViolatedConstraint | undefined> {
  const isOfDomain = dataType !== undefined;
  const place = isOfDomain ? [ownTable?.schema, ownTable?.name] : [schema, table];
  const { rows } = await db.query<{ definition: string; columns: string[]; whole: boolean }>(
    isOfDomain ? DOMAIN_CONSTRAINT_SQL : TABLE_CONSTRAINT_SQL,
    [...place, constraint, ...(isOfDomain ? [schema, dataType] : [])],
  );
  const [row] = rows;
  return row && { definition: row.definition, columns: row.columns, isOfDomain, isOfRow: row.whole };
}
