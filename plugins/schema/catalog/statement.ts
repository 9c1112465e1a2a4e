import { identifier } from '../../database/contract.ts';

/**
 * Everything the overview is made of, in one statement and so of one moment: the fingerprint, the tables with their
 * columns, indexes and single-column foreign keys, and the registry rows. No object ids in `content`, so that equal
 * databases give equal texts.
 */
export const catalogStatement = (registrySchema: string): string => `
with recursive served as (
  select oid, nspname, array_position($1::text[], nspname::text) as place from pg_namespace where nspname = any($1::text[])
), tables as (
  select c.oid, s.nspname, s.place, c.relname, c.relkind
  from pg_class c join served s on s.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and c.relpersistence <> 't'
    and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), domains as (
  select oid as domain, typbasetype as base, typtypmod as typmod, typnotnull as filled, typdefault as fallback
  from pg_type where typtype = 'd'
  union all
  select d.domain, t.typbasetype, case when d.typmod = -1 then t.typtypmod else d.typmod end,
    d.filled or t.typnotnull, coalesce(d.fallback, t.typdefault)
  from domains d join pg_type t on t.oid = d.base where t.typtype = 'd'
), bases as (
  select d.* from domains d join pg_type t on t.oid = d.base where t.typtype <> 'd'
), columns as (
  select a.attrelid, json_agg(json_build_object(
    'name', a.attname,
    'type', element.typname,
    'builtin', element.typnamespace = 'pg_catalog'::regnamespace,
    'kind', element.typtype,
    'array', item.oid is not null,
    'sqlType', case when element.typnamespace = 'pg_catalog'::regnamespace then format_type(element.oid, -1)
      else quote_ident(space.nspname) || '.' || quote_ident(element.typname) end || case when item.oid is null then '' else '[]' end,
    'dataType', case when element.typnamespace = 'pg_catalog'::regnamespace then format_type(element.oid, null) else element.typname end,
    'full', format_type(whole.oid, mode.typmod),
    'typmod', mode.typmod,
    'nullable', not (a.attnotnull or coalesce(b.filled, false)),
    'default', case when a.attgenerated = '' then coalesce(pg_get_expr(f.adbin, f.adrelid), b.fallback) end,
    'generation', case when a.attgenerated <> '' then pg_get_expr(f.adbin, f.adrelid) end,
    'identity', a.attidentity,
    'enum', case when element.typtype = 'e' then
      (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = element.oid) end,
    'comment', d.description
  ) order by a.attnum) as list
  from tables t
  join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join bases b on b.domain = a.atttypid
  join pg_type whole on whole.oid = coalesce(b.base, a.atttypid)
  cross join lateral (select case when b.domain is null or a.atttypmod <> -1 then a.atttypmod else b.typmod end as typmod) mode
  left join pg_type item on item.typarray = whole.oid and item.oid = whole.typelem
  join pg_type element on element.oid = coalesce(item.oid, whole.oid)
  join pg_namespace space on space.oid = element.typnamespace
  left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
  left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = a.attrelid and d.objsubid = a.attnum
  group by a.attrelid
), indexes as (
  select i.indrelid, json_agg(json_build_object(
    'columns', (select json_agg(a.attname order by k.at) from unnest(i.indkey::int2[]) with ordinality k(attnum, at)
      left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum where k.at <= i.indnkeyatts),
    'primary', i.indisprimary,
    'unique', i.indisunique
  ) order by i.indisprimary desc, c.relname) as list
  from tables t join pg_index i on i.indrelid = t.oid join pg_class c on c.oid = i.indexrelid
  where i.indisvalid and i.indpred is null
  group by i.indrelid
), keys as (
  select json_agg(json_build_object(
    'name', k.conname, 'schema', t.nspname, 'table', t.relname, 'column', a.attname,
    'toSchema', o.nspname, 'toTable', o.relname, 'toColumn', b.attname, 'onUpdate', k.confupdtype, 'onDelete', k.confdeltype
  ) order by t.place, t.relname, a.attnum, k.conname) as list
  from pg_constraint k join tables t on t.oid = k.conrelid join tables o on o.oid = k.confrelid
  join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
  join pg_attribute b on b.attrelid = k.confrelid and b.attnum = k.confkey[1]
  where k.contype = 'f' and k.conparentid = 0 and cardinality(k.conkey) = 1
)
select (${fingerprintStatement(registrySchema)}) as fingerprint, json_build_object(
  'tables', (select json_agg(json_build_object(
      'schema', t.nspname, 'name', t.relname, 'kind', t.relkind, 'comment', d.description,
      'columns', coalesce(c.list, '[]'), 'indexes', coalesce(i.list, '[]')
    ) order by t.place, t.relname)
    from tables t left join columns c on c.attrelid = t.oid left join indexes i on i.indrelid = t.oid
    left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = t.oid and d.objsubid = 0),
  'keys', (select list from keys),
  'registry', json_build_object(
    'collections', (select json_agg(row_to_json(r) order by r.collection) from ${registry(registrySchema, 'collections')} r),
    'fields', (select json_agg(row_to_json(r) order by r.collection, r.sort nulls last, r.id) from ${registry(registrySchema, 'fields')} r),
    'relations', (select json_agg(row_to_json(r) order by r.id) from ${registry(registrySchema, 'relations')} r))
)::text as content`;

/**
 * A text that differs whenever the catalog rows behind the overview do. A row version is known by where it lies and who
 * wrote it, which no later one repeats; statistics and the like are kept without a new version.
 */
export const fingerprintStatement = (registrySchema: string): string => {
  const versions = (from: string, where = 'true') => `(select concat(count(*), ':', sum(hashtextextended(x.ctid::text || x.xmin::text, 0))) from ${from} where ${where})`;
  const tables = `select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f')`;
  return `select concat_ws(' ',
    ${versions('pg_namespace x', 'x.nspname = any($1::text[])')},
    ${versions('pg_class x join pg_namespace n on n.oid = x.relnamespace', `n.nspname = any($1::text[]) and x.relkind in ('r', 'p', 'v', 'm', 'f')`)},
    ${versions('pg_attribute x', `x.attnum > 0 and x.attrelid in (${tables})`)},
    ${versions('pg_attrdef x', `x.adrelid in (${tables})`)},
    ${versions('pg_index x', `x.indrelid in (${tables})`)},
    ${versions('pg_constraint x', `x.contype = 'f' and x.conrelid in (${tables})`)},
    ${versions('pg_type x', `x.typtype in ('d', 'e')`)},
    ${versions('pg_enum x')},
    ${versions('pg_description x', `x.classoid = 'pg_class'::regclass and x.objoid in (${tables})`)},
    ${['collections', 'fields', 'relations'].map((name) => versions(`${registry(registrySchema, name)} x`)).join(',\n    ')})`;
};

const registry = (schema: string, name: string): string => `${identifier(schema)}.${identifier(`platform_${name}`)}`;
