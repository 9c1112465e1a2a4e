import { type Caller, Failure, fail } from '#kernel';
import type { SchemaService } from '../../schema/contract.ts';
import type { ItemsEngine } from '../contract.ts';
import { parseKeyValue } from '../find-collection-and-key.ts';

/** An item that another row is about, such as a comment. */
export interface ItemReference {
  readonly collection: string;
  /** The key of the item as it is stored, as text. */
  readonly item: string;
}

interface Deps {
  readonly items: Pick<ItemsEngine, 'readOne'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
}

/**
 * Finds an item by the name of its collection and its key in a payload, with the permissions of the caller.
 * @throws FORBIDDEN where the caller may not read it, or where it does not exist.
 */
export type FindReadableItem = (caller: Caller, collection: string, key: unknown) => Promise<ItemReference>;

export const createFindReadableItem =
  ({ items, schema }: Deps): FindReadableItem =>
  async (caller, collection, key) => {
    const { primary, key: field } = (await schema.snapshot()).collections.get(collection) ?? {};
    // The items engine rejects unknown collections and those without a key.
    const query = primary ? { fields: [primary] } : {};
    const { data } = await items.readOne(caller, collection, key, query).catch((error) => {
      // The collection is a value in this request and not its route, so ROUTE_NOT_FOUND would be wrong.
      if (error instanceof Failure && error.code === 'ROUTE_NOT_FOUND') throw fail('FORBIDDEN', error.detail);
      throw error;
    });
    const row = JSON.parse(data ?? 'null') as Record<string, unknown> | null;
    const storedKey = primary ? row?.[primary] : field?.parts && parseKeyValue(field, key);
    // A caller that may not read the key still identifies the item by it.
    const hasReadableKey = typeof storedKey === 'string' || Number.isSafeInteger(storedKey);
    return { collection, item: String(hasReadableKey ? storedKey : key) };
  };
