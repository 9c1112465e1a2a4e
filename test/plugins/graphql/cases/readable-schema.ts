import type { Collection, Field, SchemaOverview } from '../../../../plugins/schema/contract.ts';
import type { GraphqlSelectionEntry } from './document-entries.ts';

/** What the caller of a fixture may read of a schema, according to its rules. */
export interface ReadableSchema {
  readonly snapshot: SchemaOverview;
  /** Whether the field is readable in at least some rows. */
  isFieldReadable(collection: string, field: string): boolean;
  isCollectionReadable(collection: string): boolean;
  /** Keys of all rows of a collection, as texts. */
  keysOf(collection: string): ReadonlySet<string>;
  /** Whether the document also selects unreadable and unknown names of `fields`, which REST leaves out silently. */
  readonly includesHiddenNames: boolean;
}

export const NUMERIC_FIELD_TYPES = ['integer', 'bigInteger', 'decimal', 'float'];

/** How GraphQL answers a column unlike REST: keys and UUIDs as text (`ID`), decimals and floats as number (`Float`). */
export function valueConversionOf({ primary }: Collection, { name, type }: Field): { readonly as?: 'text' | 'number' } {
  if (name === primary || type === 'uuid') return { as: 'text' };
  return type === 'decimal' || type === 'float' ? { as: 'number' } : {};
}

export const typenameEntry = (type: string): GraphqlSelectionEntry => ({ kind: 'typename', key: '__typename', type });
