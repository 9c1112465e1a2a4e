import type { Db, GrantedSqlStatement } from '../database/contract.ts';
import type { AttributeSelection } from './attribute-selection.ts';
import { findAttribute, findOwn, isComplex, type ResourceAttributes } from './filter/attributes.ts';
import { compileScimFilter, FilterValues } from './filter/compile-filter.ts';
import type { AttributePath } from './filter/filter-tree.ts';
import { LIST_SCHEMA, type ListRequest } from './list-request.ts';
import { scimFailure } from './scim-error.ts';

/** One member of the JSON of a resource: a value, or an object of members. */
export interface ResourceMember {
  readonly name: string;
  readonly sql?: GrantedSqlStatement;
  readonly members?: readonly ResourceMember[];
  /** Makes SQL of the object of `members`: a list of it, or a list of many. */
  readonly wrap?: (object: GrantedSqlStatement) => GrantedSqlStatement;
}

/** A kind of resource as SQL. Its rows have the alias that the parts name; `$1` is the provider, `$2` the address of the service. */
export interface ResourceSql {
  /** The joined tables. */
  readonly from: GrantedSqlStatement;
  /** What makes a row one of the provider. */
  readonly where: GrantedSqlStatement;
  readonly key: GrantedSqlStatement;
  readonly members: readonly ResourceMember[];
  /** The text of the entity tag. */
  readonly version: GrantedSqlStatement;
  readonly attributes: ResourceAttributes;
}

/** A resource as JSON text, with its entity tag. */
export interface RenderedResource {
  readonly json: string;
  readonly version: string;
  readonly id: string;
}

/** SQL of the JSON object of a resource with the selected attributes. Attributes without a value are left out. */
function compileResource(db: Db, { members }: ResourceSql, selection: AttributeSelection): GrantedSqlStatement {
  return db.sql`json_strip_nulls(${compileObject(db, members, (name) => selection.has(name), selection)})`;
}

function compileObject(
  db: Db,
  members: readonly ResourceMember[],
  isSelected: (name: string) => boolean,
  selection?: AttributeSelection,
): GrantedSqlStatement {
  const pairs = members
    .filter(({ name }) => isSelected(name))
    .map((member) => {
      const { name, sql, members: inner, wrap } = member;
      const object = inner && compileObject(db, inner, (sub) => selection?.has(name, sub) ?? true);
      const value = object ? (wrap?.(object) ?? object) : (sql as GrantedSqlStatement);
      return db.sql`${db.literal(name)}, ${value}`;
    });
  if (pairs.length === 0) return db.sql`json_build_object()`;
  return db.sql`json_build_object(${pairs.reduce((left, right) => db.sql`${left}, ${right}`)})`;
}

/** One resource by its key. */
export async function readResource(
  db: Db,
  resource: ResourceSql,
  { provider, base, id, selection }: { provider: string; base: string; id: string; selection: AttributeSelection },
): Promise<RenderedResource | undefined> {
  const statement = db.sql`select ${compileResource(db, resource, selection)}::text, ${resource.version}
    from ${resource.from} where ${resource.where} and ${resource.key} = $3::uuid`;
  const row = await db.first(statement, [provider, base, id]);
  return row && { json: row[0] ?? '{}', version: row[1] ?? '', id };
}

/** A list of resources as JSON text (RFC 7644, section 3.4.2): one statement, which counts and reads. @throws 400 `invalidFilter` */
export async function readResourceList(
  db: Db,
  resource: ResourceSql,
  { provider, base, request, most }: { provider: string; base: string; request: ListRequest; most: number },
): Promise<string> {
  const { from, where, key, attributes } = resource;
  const values = new FilterValues(db, db.sql`$3`);
  const condition = request.filter ? compileScimFilter(db, request.filter, attributes, values) : db.sql`true`;
  const order = compileOrder(db, request, attributes, key);
  const statement = db.sql`with matching as materialized (
      select ${key} as key, row_number() over (order by ${order}) as place
      from ${from} where ${where} and $3::text[] is not null and ${condition}
    ), page as (
      select key, place from matching where place >= $4::integer order by place limit $5::integer
    ), resources as (
      select page.place, ${compileResource(db, resource, request.selection)} as resource
      from ${from} join page on ${key} = page.key
    )
    select json_build_object('schemas', json_build_array(${db.literal(LIST_SCHEMA)}::text),
      'totalResults', (select count(*) from matching), 'startIndex', $4::integer,
      'itemsPerPage', (select count(*) from page),
      'Resources', (select coalesce(json_agg(resource order by place), '[]'::json) from resources))::text`;
  const row = await db.first(statement, [
    provider,
    base,
    values.texts,
    request.startIndex,
    Math.min(request.count, most),
  ]);
  return row?.[0] ?? '{}';
}

/** Attributes without a value stand last in ascending order; resources with equal values have the order of their keys. */
function compileOrder(
  db: Db,
  { sortBy, isDescending }: ListRequest,
  attributes: ResourceAttributes,
  key: GrantedSqlStatement,
): GrantedSqlStatement {
  if (!sortBy) return key;
  const sorted = findSortAttribute(sortBy, attributes);
  if (!sorted) return key;
  const sql = sorted.type === 'text' ? db.sql`lower(${sorted.sql})` : sorted.sql;
  return isDescending ? db.sql`${sql} desc nulls first, ${key}` : db.sql`${sql} asc nulls last, ${key}`;
}

/** Undefined for an attribute that no resource has a value of. */
function findSortAttribute(path: AttributePath, attributes: ResourceAttributes) {
  const attribute = findAttribute(path, attributes);
  if (!attribute && attributes.notKept.has(path.name)) return undefined;
  const simple =
    attribute && isComplex(attribute) ? findOwn(attribute.subs, path.sub ?? attribute.main ?? '') : attribute;
  const isSingle = attribute && (!isComplex(attribute) || attribute.isSingle);
  if (!simple || !isSingle) throw scimFailure(400, 'There is no attribute of this name to sort by.', 'invalidValue');
  return simple;
}
