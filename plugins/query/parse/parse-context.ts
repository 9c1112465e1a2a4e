import { fail } from '#kernel';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import type { FieldVisibility, PlaceholderBinder } from '../contract.ts';
import { createUnknownFieldFailure } from '../library.ts';
import { assertQueryNesting, createInvalidQueryFailure, type QueryErrorPath } from './raw-values.ts';

export interface QueryCeilings {
  /** The largest number of names in a path (`depth.ts`). */
  readonly depth: number;
  /** The largest number of fields, conditions and relations in one query. */
  readonly nodes: number;
  /** Rows of a list without `limit`. */
  readonly limitDefault: number;
  /** The largest `limit`; -1 is no limit. */
  readonly limitMax: number;
}

/** The state of parsing one query: what names resolve to, and the ceilings that bound its cost before any SQL exists. */
export interface QueryParseContext {
  readonly schema: SchemaOverview;
  readonly ceilings: QueryCeilings;
  /** Set for permission rules: `$CURRENT_USER.a.b` may use concealed fields. */
  readonly trusted: boolean;
  /** Set for permission rules and by-query writes: an incomplete `_between` is an error and is not left out, which would match more rows. */
  readonly strict: boolean;
  /** Whether wildcards may follow the relation to the parent back. */
  readonly backlink: boolean;
  readonly isVisible: FieldVisibility;
  readonly onUnknownField: () => void;
  readonly spent: { nodes: number };
  /** One binder per placeholder, added by the parser of operands. */
  readonly placeholders: PlaceholderBinder[];
}

export function countQueryPart(context: QueryParseContext, path: QueryErrorPath): void {
  assertQueryNesting(path);
  if (++context.spent.nodes > context.ceilings.nodes)
    throw createInvalidQueryFailure(
      `the query has more than the ${context.ceilings.nodes} parts allowed (QUERY_MAX_NODES)`,
      path,
    );
}

/** Whether this whole text, also with special characters, is the name of a field that is not hidden from the caller. */
export const isNameOfVisibleField = (context: QueryParseContext, collection: Collection, name: string): boolean =>
  collection.fields.has(name) && context.isVisible(collection, name);

/**
 * The field of this name.
 * @throws FORBIDDEN for an unknown field and for a hidden one alike
 */
export function resolveField(context: QueryParseContext, collection: Collection, name: string): Field {
  if (!context.isVisible(collection, name))
    throw fail('FORBIDDEN', `field ${name} of ${collection.name} is hidden from the caller`);
  const field = collection.fields.get(name);
  if (!field) throw createUnknownFieldFailure(name, collection.name);
  return field;
}

export function resolveCollection(context: QueryParseContext, name: string): Collection {
  const found = context.schema.collections.get(name);
  if (!found) throw createInvalidQueryFailure(`leads to the unknown collection ${name}`, []);
  return found;
}

/** The field of the related collection that a many-to-one refers to. */
export function manyToOneTargetField(field: Field, to: Collection): Field {
  const column = field.relation?.kind === 'one' ? field.relation.relation.schema?.foreign_key_column : undefined;
  const found = column ? [...to.fields.values()].find((one) => one.column?.name === column) : undefined;
  const key = found ?? (to.hasKey ? to.key : null);
  if (!key) throw createInvalidQueryFailure(`leads to ${to.name}, which has no key`, [field.name]);
  return key;
}
