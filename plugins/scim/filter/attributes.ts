import type { Db, GrantedSqlStatement } from '../../database/contract.ts';
import type { AttributePath } from './filter-tree.ts';

/** How values of an attribute are compared. `exact`: with regard to case. */
export type AttributeType = 'text' | 'exact' | 'key' | 'boolean' | 'time';

/** An attribute of one value, as SQL over the row of its resource. */
export interface SimpleAttribute {
  readonly type: AttributeType;
  readonly sql: GrantedSqlStatement;
}

/** An attribute with sub-attributes. `wrap` makes the condition on one value a condition on the resource. */
export interface ComplexAttribute {
  readonly subs: Readonly<Record<string, SimpleAttribute>>;
  /** The sub-attribute that a comparison without one means. */
  readonly main?: string;
  /** Whether a resource has one value of it at most, by which lists can be sorted. */
  readonly isSingle: boolean;
  readonly wrap: (condition: GrantedSqlStatement) => GrantedSqlStatement;
}

export type FilterAttribute = SimpleAttribute | ComplexAttribute;

/** The attributes of a resource that filters may name, by name in lower case. */
export interface ResourceAttributes {
  /** The URN of the schema, which may stand before each name. */
  readonly schema: string;
  readonly known: Readonly<Record<string, FilterAttribute>>;
  /** Attributes of the RFC that the service does not keep: no resource has a value of them. */
  readonly notKept: ReadonlySet<string>;
}

export const isComplex = (attribute: FilterAttribute): attribute is ComplexAttribute => 'subs' in attribute;

/** Names come from requests, and `constructor` is a member of every object. */
export const findOwn = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined;

/** The attribute of a path; undefined for an unknown one, and for one of another schema. */
export const findAttribute = (path: AttributePath, attributes: ResourceAttributes): FilterAttribute | undefined =>
  isOfSchema(path, attributes) ? findOwn(attributes.known, path.name) : undefined;

/** Whether the path belongs to the schema of the resource. */
export const isOfSchema = ({ schema }: AttributePath, attributes: ResourceAttributes): boolean =>
  schema === undefined || schema === attributes.schema.toLowerCase();

/** A complex attribute of one value: a condition on it needs no wrapping, but a value. */
export const createSingleValue = (
  db: Db,
  subs: ComplexAttribute['subs'],
  isPresent: GrantedSqlStatement,
  main?: string,
): ComplexAttribute => ({
  subs,
  isSingle: true,
  ...(main === undefined ? {} : { main }),
  wrap: (condition) => db.sql`(${isPresent} and ${condition})`,
});
