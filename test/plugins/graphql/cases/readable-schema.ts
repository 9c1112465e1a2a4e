import type { Collection, Field, Overview } from '../../../../plugins/schema/contract.ts';
import type { Entry } from './entries.ts';

/** What somebody may read of a schema, told from the words of a fixture. */
export interface ReadableSchema {
  readonly snapshot: Overview;
  /** On some rows at least. */
  isFieldReadable(collection: string, field: string): boolean;
  isCollectionReadable(collection: string): boolean;
  /** The keys of all rows, as texts. */
  keysOf(collection: string): ReadonlySet<string>;
  /** Asks for names in `fields` that REST would leave out as well. */
  readonly includesHiddenNames: boolean;
}

export const NUMBERS = ['integer', 'bigInteger', 'decimal', 'float'];

/** Keys and uuids are `ID`s, exact and inexact numbers `Float`s. */
export function valueForm({ primary }: Collection, { name, type }: Field): { readonly as?: 'text' | 'number' } {
  if (name === primary || type === 'uuid') return { as: 'text' };
  return type === 'decimal' || type === 'float' ? { as: 'number' } : {};
}

export const typenameEntry = (type: string): Entry => ({ kind: 'typename', key: '__typename', type });
