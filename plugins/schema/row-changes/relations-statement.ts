import { quoteLiteral } from '../../database/library.ts';
import { ROW_CHANGES_TRIGGER } from './trigger-name.ts';

/** What one row of the statement says of a table that a read of `name` depends on. */
export interface RelationRow {
  readonly name: string;
  /** Null where `name` does not exist. */
  readonly oid: number | null;
  /** The quoted name of the table. */
  readonly relation: string | null;
  /** A table that needs a trigger and has none that is enabled. */
  readonly isMissing: boolean;
  readonly refusal: string | null;
}

/**
 * Functions of PostgreSQL that are not immutable, only because they depend on the time zone or on output functions: the same in all
 * connections of the service.
 */
// biome-ignore format: a list of names
const SETTING_FUNCTIONS = [
  'date_trunc', 'date_part', 'extract', 'to_char', 'to_date', 'to_timestamp', 'timezone', 'date', 'timestamp', 'timestamptz', 'time',
  'timetz', 'concat', 'concat_ws', 'format', 'array_to_string', 'quote_literal', 'quote_nullable', 'to_json', 'to_jsonb',
  'row_to_json', 'array_to_json', 'json_build_object', 'json_build_array', 'jsonb_build_object', 'jsonb_build_array', 'json_agg',
  'jsonb_agg', 'json_object_agg', 'jsonb_object_agg', 'anytextcat', 'textanycat', 'timestamptz_pl_interval', 'timestamptz_mi_interval', 'interval_pl_timestamptz',
  'to_tsvector', 'to_tsquery', 'plainto_tsquery', 'websearch_to_tsquery', 'phraseto_tsquery',
  ...['date', 'timestamp', 'timestamptz'].flatMap((left) =>
    ['date', 'timestamp', 'timestamptz'].flatMap((right) =>
      ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'cmp'].map((operator) => `${left}_${operator}_${right}`),
    ),
  ),
] as const;

/** Node types of a view that have another value each time, or in each session. */
const CHANGING_NODES = '\\{(SQLVALUEFUNCTION|TABLESAMPLECLAUSE|NEXTVALUEEXPR|CURRENTOFEXPR) ';
/** A conversion of texts such as `now` to dates and times, by the oids of these types. */
const TEXT_TO_TIME = '\\{COERCEVIAIO .*:resulttype (1082|1083|1114|1184|1266) ';
/** Oids of what `initdb` creates are below this number. */
const FIRST_USER_OID = 16_384;

const callsOtherFunction = `exists (
    select from pg_rewrite w
    cross join regexp_matches(w.ev_action::text, ':(funcid|opfuncid|aggfnoid|winfnoid|opno) ([1-9]\\d*)', 'g') call
    left join pg_operator o on call[1] = 'opno' and o.oid = call[2]::oid
    left join pg_proc f on f.oid = case when call[1] = 'opno' then o.oprcode::oid else call[2]::oid end
    where w.ev_class = c.oid and w.ev_type = '1' and not coalesce(
      f.provolatile = 'i' and (f.oid < ${FIRST_USER_OID} or f.prolang = (select oid from pg_language where lanname = 'c'))
      or f.provolatile = 's' and f.oid < ${FIRST_USER_OID} and f.proname = any(${quoteLiteral(`{${SETTING_FUNCTIONS.join(',')}}`)}), false))`;

const isChangingView = `exists (select from pg_rewrite w where w.ev_class = c.oid and w.ev_type = '1'
    and (w.ev_action::text ~ ${quoteLiteral(CHANGING_NODES)} or w.ev_action::text ~ ${quoteLiteral(TEXT_TO_TIME)}))`;

/**
 * For the names `$1`, all tables whose changes may change a read of them, and why those of one cannot be announced. A statement on a
 * parent table fires the parent's trigger alone, and one on a partition that of the partition, so both count.
 */
export const renderRelationsStatement = (functionName: string): string => `
with recursive asked as (
  select name, to_regclass(name)::oid as oid from unnest($1::text[]) name
), reads as (
  select name, oid, false as by_view from asked where oid is not null
  union
  select r.name, x.oid, r.by_view or x.by_view from reads r cross join lateral (
    -- The tree of a view also names catalogs, on which pg_depend records nothing.
    select named[1]::oid as oid, true as by_view from pg_rewrite w
      cross join regexp_matches(w.ev_action::text, ':relid ([1-9]\\d*)', 'g') named
      where w.ev_class = r.oid and w.ev_type = '1' and named[1]::oid <> r.oid
    union all
    select d.refobjid, true from pg_rewrite w
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
      where w.ev_class = r.oid and w.ev_type = '1' and d.refobjid <> r.oid
    union all
    select i.inhrelid, false from pg_inherits i where i.inhparent = r.oid
  ) x
), relations as (
  select name, oid, true as is_read, by_view from reads
  union
  select w.name, i.inhparent, false, false from relations w join pg_inherits i on i.inhrelid = w.oid
)
select a.name, c.oid::int8 as oid,
  quote_ident(n.nspname) || '.' || quote_ident(c.relname) as relation,
  c.relkind in ('r', 'p') and not exists (
    select from pg_trigger t where t.tgrelid = c.oid and t.tgname = '${ROW_CHANGES_TRIGGER}' and t.tgenabled = 'A'
      and t.tgfoid = to_regprocedure(${quoteLiteral(`${functionName}()`)})) as missing,
  case
    when c.oid is null then 'it does not exist'
    when c.oid < ${FIRST_USER_OID} then 'it reads a catalog of PostgreSQL'
    when c.relkind = 'm' then 'it reads a materialized view'
    when c.relkind = 'f' then 'it reads a foreign table'
    when c.relkind = 'v' then case
      when ${isChangingView} then 'it is a view that depends on the time or the session'
      when ${callsOtherFunction} then 'it is a view that calls a function whose result may change' end
    when c.relkind not in ('r', 'p') then 'it reads neither tables nor views'
    when c.relpersistence = 't' then 'it reads a temporary table'
    when not pg_has_role(c.relowner, 'USAGE') then 'the database role does not own ' || c.oid::regclass
    when r.is_read and case when r.by_view then c.relrowsecurity else row_security_active(c.oid) end
      then 'row-level security applies to ' || c.oid::regclass
    when exists (select from pg_subscription_rel s where s.srrelid = c.oid)
      then 'a subscription writes to ' || c.oid::regclass || ' without firing triggers of statements'
  end as refusal
from asked a left join relations r on r.name = a.name
left join pg_class c on c.oid = r.oid left join pg_namespace n on n.oid = c.relnamespace`;
