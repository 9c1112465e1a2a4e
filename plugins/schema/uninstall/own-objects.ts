import type { Db } from '../../database/contract.ts';
import { quoteLiteral } from '../../database/library.ts';
import { EVENT_TRIGGER, SCHEMA_FUNCTIONS } from '../freshness/change-triggers.ts';
import { ROW_CHANGES_TRIGGER, ROW_FEED_FUNCTION } from '../row-changes/trigger-name.ts';
import { TABLE_COMMENT } from '../system/system-tables-migration.ts';

/** What the service has added to a database, as quoted names with schemas. */
export interface OwnObjects {
  readonly tables: readonly string[];
  readonly functions: readonly string[];
  readonly schemas: readonly string[];
  readonly eventTriggers: readonly { readonly name: string; readonly isDroppable: boolean }[];
  /** Triggers of the service on tables of others: name and table. */
  readonly triggers: readonly (readonly [string, string])[];
  /** Foreign keys of other tables to tables of the service: name and table. */
  readonly foreignKeys: readonly (readonly [string, string])[];
}

/**
 * Finds what the service has added to a database where its migrations have run. Tables are those that carry the comment of system
 * collections, which third-party packages may have left, the record of migrations, and those that the manifests of core plugins own. Of
 * these a system collection needs the comment: a table of its name without it belongs to another program. Functions are those that
 * belong to these tables, by a default, or by a trigger that has their name, as those of migrations have; and those of the triggers that
 * announce changes. A function that a trigger on another table uses belongs to another program.
 */
export async function findOwnObjects(
  db: Pick<Db, 'query' | 'schemas' | 'ownedTables' | 'ownedSchemas'>,
  /** Names of all system collections. */
  systemCollections: ReadonlySet<string>,
): Promise<OwnObjects> {
  const { rows } = await db.query<OwnObjects>(FIND_SQL, [
    db.schemas[0],
    ['platform_migrations', ...db.ownedTables()].filter((name) => !systemCollections.has(name)),
    TABLE_COMMENT,
    [...db.ownedSchemas()],
  ]);
  return rows[0] as OwnObjects;
}

const tableName = (oid: string) =>
  `(select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = ${oid})`;

const FUNCTIONS = [...Object.values(SCHEMA_FUNCTIONS), ROW_CHANGES_TRIGGER].map(quoteLiteral).join();

const FIND_SQL = `with own_tables as materialized (
    select c.oid, format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname like 'platform\\_%'
      and (c.relname = any($2::text[]) or c.relkind = 'r' and obj_description(c.oid, 'pg_class') = $3)),
  event_triggers as (
    select oid, evtname, evtfoid, pg_has_role(evtowner, 'usage') as droppable from pg_event_trigger where evtname = ${quoteLiteral(EVENT_TRIGGER)}),
  own_functions as materialized (
    select p.oid, format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as name
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.proname like 'platform\\_%' and (
      p.proname in (${FUNCTIONS}) or p.proname ~ '^${ROW_FEED_FUNCTION}(_|$)'
      or p.oid in (select evtfoid from event_triggers)
      or exists (select from pg_trigger t where t.tgfoid = p.oid and starts_with(t.tgname, p.proname) and t.tgrelid in (select oid from own_tables))
        and not exists (select from pg_trigger t where t.tgfoid = p.oid and t.tgrelid not in (select oid from own_tables))
      or p.oid in (select d.refobjid from pg_depend d join pg_attrdef a on d.classid = 'pg_attrdef'::regclass and d.objid = a.oid
        where d.refclassid = 'pg_proc'::regclass and a.adrelid in (select oid from own_tables))))
  select
    array(select name from own_tables order by name) as tables,
    array(select name from own_functions order by name) as functions,
    array(select quote_ident(nspname) from pg_namespace where nspname = any($4::text[]) order by nspname) as schemas,
    coalesce((select json_agg(json_build_object('name', quote_ident(evtname), 'isDroppable', droppable)) from event_triggers), '[]') as "eventTriggers",
    coalesce((select json_agg(json_build_array(quote_ident(t.tgname), ${tableName('t.tgrelid')}) order by t.tgrelid) from pg_trigger t
      where not t.tgisinternal and t.tgparentid = 0 and t.tgfoid in (select oid from own_functions)
        and t.tgrelid not in (select oid from own_tables)), '[]') as triggers,
    coalesce((select json_agg(json_build_array(quote_ident(k.conname), ${tableName('k.conrelid')}) order by k.conrelid) from pg_constraint k
      where k.contype = 'f' and k.conparentid = 0 and k.confrelid in (select oid from own_tables)
        and k.conrelid not in (select oid from own_tables)), '[]') as "foreignKeys"`;
