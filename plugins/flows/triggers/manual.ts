import { type Caller, fail } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isKey = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/**
 * Whether the caller may trigger a manual flow with this body (specification, "Trigger rules", 3): signed in, for a collection of the
 * flow, with rows that the caller may read.
 * @throws FORBIDDEN, INVALID_PAYLOAD for a body that is no object.
 */
export async function assertManualTrigger(
  items: Pick<ItemsEngine, 'readKeys' | 'checkQuery'>,
  caller: Caller,
  { options }: FlowPlan,
  method: string,
  body: unknown,
): Promise<void> {
  if (method !== 'POST') throw fail('FORBIDDEN', 'a manual flow is triggered by POST');
  if (caller.user === null) throw fail('FORBIDDEN', 'a manual flow is triggered by a user');
  if (!isObject(body)) throw fail('INVALID_PAYLOAD', 'the body must be an object with "collection" and "keys"');
  const { collection, keys } = body;
  const allowed = Array.isArray(options.collections) ? options.collections : [];
  if (typeof collection !== 'string' || !allowed.includes(collection))
    throw fail('FORBIDDEN', 'the flow is not for this collection');
  const hasKeys = Array.isArray(keys) && keys.length > 0;
  if (keys !== undefined && keys !== null && !(Array.isArray(keys) && keys.every(isKey)))
    throw fail('FORBIDDEN', '"keys" must be a list of keys');
  if (!hasKeys && options.requireSelection !== false) throw fail('FORBIDDEN', 'the flow needs a selection of rows');
  try {
    if (hasKeys) await assertReadable(items, caller, collection, keys as readonly unknown[]);
    else await items.checkQuery(caller, collection, { limit: 1 });
  } catch (error) {
    // A collection that is gone, or a key of another type, says no more than one without permission.
    const { code } = error as { readonly code?: string };
    if (code === 'ROUTE_NOT_FOUND' || code === 'INVALID_QUERY') throw fail('FORBIDDEN', 'the rows cannot be read');
    throw error;
  }
}

async function assertReadable(
  items: Pick<ItemsEngine, 'readKeys'>,
  caller: Caller,
  collection: string,
  keys: readonly unknown[],
): Promise<void> {
  const distinct = [...new Set(keys.map(String))];
  const { data } = await items.readKeys(caller, collection, distinct, { limit: -1 });
  const rows: unknown = JSON.parse(data ?? '[]');
  if (!Array.isArray(rows) || rows.length < distinct.length) throw fail('FORBIDDEN', 'a row cannot be read');
}
