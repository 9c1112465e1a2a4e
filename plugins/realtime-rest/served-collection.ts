import type { Caller } from '#kernel';
import { type AccessControl, PERMISSION_ACTIONS } from '../access/contract.ts';
import { type Collection, type SchemaService, SYSTEM_COLLECTION_PREFIX } from '../schema/contract.ts';
import { MessageRefusal } from './messages.ts';

interface Deps {
  readonly access: Pick<AccessControl, 'permissions'>;
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
}

/**
 * The collection of a message. One that does not exist looks like one that the caller may do nothing with.
 * @throws MessageRefusal with INVALID_COLLECTION
 */
export async function findServedCollection(
  { access, schema }: Deps,
  caller: Caller,
  name: unknown,
  options: { readonly withSystem: boolean },
): Promise<Collection> {
  if (typeof name !== 'string') throw new MessageRefusal('INVALID_PAYLOAD', '"collection" must be a text.');
  const refusal = new MessageRefusal('INVALID_COLLECTION', 'The collection does not exist or is not accessible.');
  if (!options.withSystem && name.startsWith(SYSTEM_COLLECTION_PREFIX)) throw refusal;
  const permissions = await access.permissions(caller);
  if (!PERMISSION_ACTIONS.some((action) => permissions.of(name, action).length > 0)) throw refusal;
  let snapshot = await schema.snapshot();
  if (!snapshot.collections.has(name)) snapshot = await schema.refresh();
  const collection = snapshot.collections.get(name);
  if (!collection?.table) throw refusal;
  return collection;
}
