import { fail } from '#kernel';
import type { Collection, Field, Overview } from '../../schema/contract.ts';
import type { FieldVisibility, PlaceholderBinder } from '../contract.ts';
import { unknownField } from '../library.ts';
import { assertNesting, invalidQuery, type QueryPath } from './raw-values.ts';

export interface Ceilings {
  /** Names that may follow each other in a path (`depth.ts`). */
  readonly depth: number;
  readonly nodes: number;
  readonly limitDefault: number;
  /** -1: none. */
  readonly limitMax: number;
}

/** What one query may use up while it is parsed, so that its cost is bounded before any SQL exists. */
export interface ParseContext {
  readonly schema: Overview;
  readonly ceilings: Ceilings;
  /** Permission rules: follow `$CURRENT_USER.a.b` with the system's rights. */
  readonly trusted: boolean;
  /** Conditions decide what may be seen or is about to be written, so none of them drops out. */
  readonly strict: boolean;
  /** May wildcards lead back along the relation they came by? */
  readonly backlink: boolean;
  readonly isVisible: FieldVisibility;
  readonly onUnknownField: () => void;
  readonly spent: { nodes: number };
  /** Filled by operands that are given when the statement runs. */
  readonly placeholders: PlaceholderBinder[];
}

export function countPart(context: ParseContext, path: QueryPath): void {
  assertNesting(path);
  if (++context.spent.nodes > context.ceilings.nodes)
    throw invalidQuery(`the query has more than the ${context.ceilings.nodes} parts allowed (QUERY_MAX_NODES)`, path);
}

/** Is there a field whose whole name this is, whatever marks it contains, of which the caller may know? */
export const isVisibleField = (context: ParseContext, collection: Collection, name: string): boolean =>
  collection.fields.has(name) && context.isVisible(collection, name);

/** The field of this name. One that is unknown and one that may not be known look the same. */
export function resolveField(context: ParseContext, collection: Collection, name: string): Field {
  if (!context.isVisible(collection, name))
    throw fail('FORBIDDEN', `field ${name} of ${collection.name} may not be known`);
  const field = collection.fields.get(name);
  if (!field) throw unknownField(name, collection.name);
  return field;
}

export function resolveCollection(context: ParseContext, name: string): Collection {
  const found = context.schema.collections.get(name);
  if (!found) throw invalidQuery(`leads to the unknown collection ${name}`, []);
  return found;
}

/** The column of the target that a many-to-one's key points at. */
export function targetField(field: Field, to: Collection): Field {
  const column = field.relation?.kind === 'one' ? field.relation.relation.schema?.foreign_key_column : undefined;
  const found = column ? [...to.fields.values()].find((one) => one.column?.name === column) : undefined;
  const key = found ?? (to.hasKey ? to.key : null);
  if (!key) throw invalidQuery(`leads to ${to.name}, which has no key`, [field.name]);
  return key;
}
