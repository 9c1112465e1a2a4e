import { type Caller, Failure, fail } from '#kernel';
import type { Items } from '../items/contract.ts';
import { castKey } from '../items/library.ts';
import type { Schema } from '../schema/contract.ts';

/** The item a comment is about. */
export interface CommentedItem {
  readonly collection: string;
  /** Its key as the item itself has it, as text. */
  readonly item: string;
}

interface CommentedItemDeps {
  readonly items: Pick<Items, 'readOne'>;
  readonly schema: Pick<Schema, 'overview'>;
}

/** The item as this caller may read it; FORBIDDEN where he may not, or where there is none. */
export type FindCommentedItem = (caller: Caller, collection: string, key: unknown) => Promise<CommentedItem>;

export const createFindCommentedItem =
  ({ items, schema }: CommentedItemDeps): FindCommentedItem =>
  async (caller, collection, key) => {
    const { primary, key: field } = (await schema.overview()).collections.get(collection) ?? {};
    // The engine says what it says about collections that are unknown or have no key.
    const query = primary ? { fields: [primary] } : {};
    const { data } = await items.readOne(caller, collection, key, query).catch((error) => {
      // The collection is a value here, and no route.
      if (error instanceof Failure && error.code === 'ROUTE_NOT_FOUND') throw fail('FORBIDDEN', error.detail);
      throw error;
    });
    const row = JSON.parse(data ?? 'null') as Record<string, unknown> | null;
    const storedKey = primary ? row?.[primary] : field?.parts && castKey(field, key);
    // A caller who may not read the key itself still names the item by it.
    const hasReadableKey = typeof storedKey === 'string' || Number.isSafeInteger(storedKey);
    return { collection, item: String(hasReadableKey ? storedKey : key) };
  };
