import { isDeepStrictEqual } from 'node:util';
import { type Caller, fail } from '#kernel';
import type { ItemsEngine, Payload, WriteCancellation } from '../items/contract.ts';
import { CONCEALED_VALUE_MASK } from '../items/library.ts';
import type { Collection, SchemaService } from '../schema/contract.ts';

type Items = Pick<ItemsEngine, 'readOne' | 'updateOne'>;
type Schema = Pick<SchemaService, 'snapshot'>;

/** Gives the item of a revision the values that it had then. */
export type RevertItem = (caller: Caller, revision: string, cancellation?: WriteCancellation) => Promise<void>;

interface StoredRevision {
  readonly collection: string;
  readonly item: string;
  readonly data: Payload | null;
}

/**
 * An ordinary update with the caller's permissions. It names the fields that differ, so that a caller who may update only some can
 * revert those; where none differs it writes all, so that the history shows the revert.
 */
export const createRevert =
  (items: Items, schema: Schema): RevertItem =>
  async (caller, id, cancellation) => {
    const revision = await readRow<StoredRevision>(items, caller, 'platform_revisions', id, [
      'collection',
      'item',
      'data',
    ]);
    const collection = (await schema.snapshot()).collections.get(revision.collection);
    const stored = collection ? revertibleValues(collection, revision.data ?? {}) : {};
    const names = Object.keys(stored);
    if (names.length === 0) throw fail('INVALID_PAYLOAD', 'The revision has no values that the item could take.');
    const current = await readRow<Payload>(items, caller, revision.collection, revision.item, names);
    const changed = names.filter((name) => !isDeepStrictEqual(stored[name], current[name]));
    const payload = Object.fromEntries((changed.length > 0 ? changed : names).map((name) => [name, stored[name]]));
    await items.updateOne(caller, revision.collection, revision.item, payload, cancellation);
  };

/** The values of columns that still exist, without the key, secrets, and what the service or the database sets itself. */
function revertibleValues({ fields, primary }: Collection, data: Payload): Payload {
  const isRevertible = (name: string, value: unknown): boolean => {
    const field = fields.get(name);
    if (!field?.column || field.column.generated || name === primary || value === CONCEALED_VALUE_MASK) return false;
    return !field.special.some((one) => one === 'date-updated' || one === 'user-updated');
  };
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => isRevertible(name, value)));
}

async function readRow<Row>(
  items: Items,
  caller: Caller,
  collection: string,
  key: unknown,
  fields: readonly string[],
): Promise<Row> {
  const { data } = await items.readOne(caller, collection, key, { fields });
  return JSON.parse(data ?? 'null') as Row;
}
