import { quoteIdentifier, quoteLiteral } from '../../database/library.ts';
import { ROW_CHANGES_TRIGGER, ROW_FEED_TRIGGERS } from '../row-changes/trigger-name.ts';

/** Triggers that only announce what changed. */
const ANNOUNCING_TRIGGERS = [ROW_CHANGES_TRIGGER, ...Object.values(ROW_FEED_TRIGGERS)];

/**
 * Renders the statement that reads all that a schema snapshot needs, at one moment: the fingerprint, the tables with their
 * columns, indexes and foreign keys, and the registry rows. `content` holds no object ids, so that equal databases give equal
 * texts. Rows refer to tables and types by number, because building texts takes most of the time. `parse-catalog-content.ts` names the
 * positions in each list.
 */
export const renderCatalogStatement = (registrySchema: string): string => `
with recursive tables as materialized (
  select c.oid, row_number() over (order by array_position($1::text[], n.nspname::text), c.relname) - 1 as at,
    n.nspname, c.relname, c.relkind, c.relhassubclass or c.relhasrules or exists (
      select from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal and g.tgenabled <> 'D'
        and g.tgname not in (${ANNOUNCING_TRIGGERS.map(quoteLiteral).join(', ')})) as reacts
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and c.relpersistence <> 't' and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), chains as (
  select oid as domain, typbasetype as base, typtypmod as typmod, typnotnull as filled, typdefault as fallback
  from pg_type where typtype = 'd'
  union all
  select d.domain, t.typbasetype, case when d.typmod = -1 then t.typtypmod else d.typmod end,
    d.filled or t.typnotnull, coalesce(d.fallback, t.typdefault)
  from chains d join pg_type t on t.oid = d.base where t.typtype = 'd'
), domains as (
  select d.* from chains d join pg_type t on t.oid = d.base where t.typtype <> 'd'
), columns as materialized (
  select t.at, a.attrelid, a.attnum, a.attname, a.attnotnull or coalesce(d.filled, false) as filled, a.attgenerated, a.attidentity,
    d.fallback, coalesce(d.base, a.atttypid) as type,
    case when d.domain is null or a.atttypmod <> -1 then a.atttypmod else d.typmod end as typmod
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join domains d on d.domain = a.atttypid
), types as materialized (
  select u.type, u.typmod, row_number() over (order by c.nspname, o.typname, i.oid is null, u.typmod) - 1 as at,
    json_build_array(
      e.typname, b.builtin, e.typtype, i.oid is not null,
      case when c.nspname = 'pg_catalog' then format_type(o.oid, -1) else quote_ident(c.nspname) || '.' || quote_ident(o.typname) end
        || case when i.oid is null then '' else '[]' end,
      case when b.builtin then format_type(e.oid, null) else e.typname end,
      format_type(u.type, u.typmod), u.typmod,
      case when e.typtype = 'e' then
        (select json_agg(v.enumlabel order by v.enumsortorder) from pg_enum v where v.enumtypid = e.oid) end,
      (select json_build_array(x.typname, x.typnamespace = 'pg_catalog'::regnamespace, format_type(x.oid, -1), format_type(x.oid, null))
        from pg_range r join pg_type x on x.oid = r.rngsubtype where e.oid in (r.rngtypid, r.rngmultitypid))) as row
  from (select distinct type, typmod from columns) u
  join pg_type w on w.oid = u.type
  left join pg_type i on i.oid = w.typelem and i.typarray = w.oid
  join pg_type o on o.oid = coalesce(i.oid, w.oid)
  join pg_namespace c on c.oid = o.typnamespace
  left join domains d on d.domain = o.oid
  join pg_type e on e.oid = coalesce(d.base, o.oid)
  join pg_namespace s on s.oid = e.typnamespace
  cross join lateral (select s.nspname = 'pg_catalog' as builtin) b
)
select (${renderFingerprintStatement(registrySchema)}) as fingerprint, json_build_object(
  'types', (select json_agg(row order by at) from types),
  'tables', (select json_agg(json_build_array(t.nspname, t.relname, t.relkind, d.description, t.reacts) order by t.at)
    from tables t left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = t.oid and d.objsubid = 0),
  'columns', (select json_agg(json_build_array(
      c.at, c.attname, t.at, not c.filled,
      case when c.attgenerated = '' then coalesce(pg_get_expr(f.adbin, f.adrelid), c.fallback) end,
      case when c.attgenerated <> '' then pg_get_expr(f.adbin, f.adrelid) end,
      c.attidentity, d.description) order by c.at, c.attnum)
    from columns c join types t using (type, typmod)
    left join pg_attrdef f on f.adrelid = c.attrelid and f.adnum = c.attnum
    left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = c.attrelid and d.objsubid = c.attnum),
  'indexes', (select json_agg(json_build_array(
      t.at, i.indisprimary, i.indisunique,
      (select json_agg((select a.attname from pg_attribute a where a.attrelid = i.indrelid and a.attnum = k.attnum) order by k.at)
        from unnest(i.indkey::int2[]) with ordinality k(attnum, at) where k.at <= i.indnkeyatts)
    ) order by t.at, i.indisprimary desc, c.relname)
    from tables t join pg_index i on i.indrelid = t.oid join pg_class c on c.oid = i.indexrelid
    where i.indisvalid and i.indpred is null),
  'keys', (select json_agg(json_build_array(
      k.conname, t.at, ${renderColumnNames('k.conrelid', 'k.conkey')}, o.at, ${renderColumnNames('k.confrelid', 'k.confkey')},
      k.confupdtype, k.confdeltype, k.convalidated) order by t.at, k.conkey, k.conname)
    from pg_constraint k join tables t on t.oid = k.conrelid join tables o on o.oid = k.confrelid
    where k.contype = 'f' and k.conparentid = 0),
  'registry', json_build_object(
    'collections', (select json_agg(row_to_json(r) order by r.collection) from ${registryTableSql(registrySchema, 'collections')} r),
    'fields', (select json_agg(row_to_json(r) order by r.collection, r.sort nulls last, r.id) from ${registryTableSql(registrySchema, 'fields')} r),
    'relations', (select json_agg(row_to_json(r) order by r.id) from ${registryTableSql(registrySchema, 'relations')} r))
)::text as content`;

const renderColumnNames = (table: string, numbers: string): string =>
  `(select json_agg(a.attname order by c.at) from unnest(${numbers}) with ordinality c(attnum, at)
        join pg_attribute a on a.attrelid = ${table} and a.attnum = c.attnum)`;

/**
 * SQL of a text that changes whenever catalog rows behind the schema snapshot change. It hashes `ctid` and `xmin` of the rows,
 * which no later row version repeats. PostgreSQL updates statistics in place, so they do not change the text.
 */
export const renderFingerprintStatement = (registrySchema: string): string => {
  const versions = (from: string, where = 'true') =>
    `(select concat(count(*), ':', sum(hashtextextended(x.ctid::text || x.xmin::text, 0))) from ${from} where ${where})`;
  // `is true` makes this a hashed subplan. As a join it would depend on statistics, and in a new database those of the
  // catalogs know no foreign keys: PostgreSQL would compare each one with every table.
  const ofTables = (column: string) => `(${column} in (select oid from watched)) is true`;
  return `with watched as materialized (
    select c.oid, c.ctid, c.xmin from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f'))
  select concat_ws(' ',
    ${versions('pg_namespace x', 'x.nspname = any($1::text[])')},
    ${versions('watched x')},
    ${versions('pg_attribute x', `x.attnum > 0 and ${ofTables('x.attrelid')}`)},
    ${versions('pg_attrdef x', ofTables('x.adrelid'))},
    ${versions('pg_index x', ofTables('x.indrelid'))},
    ${versions('pg_trigger x', `not x.tgisinternal and ${ofTables('x.tgrelid')}`)},
    ${versions('pg_constraint x', `x.contype = 'f' and ${ofTables('x.conrelid')}`)},
    ${versions('pg_type x', `x.typtype in ('d', 'e')`)},
    ${versions('pg_enum x')},
    ${versions('pg_description x', `x.classoid = 'pg_class'::regclass and ${ofTables('x.objoid')}`)},
    ${['collections', 'fields', 'relations'].map((name) => versions(`${registryTableSql(registrySchema, name)} x`)).join(',\n    ')}) as fingerprint`;
};

const registryTableSql = (schema: string, name: string): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(`platform_${name}`)}`;
