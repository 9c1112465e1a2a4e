import { fail } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import type { Action, Permission } from '../contract.ts';
import { lists } from '../restrict/rules.ts';

/**
 * The submitted fields must exist and be granted. Where nothing is granted field by field, an unknown name is told as
 * such; to all others it looks like a forbidden one.
 */
export function checkFields(
  collection: Collection,
  action: Action,
  names: readonly string[],
  permissions: readonly Permission[] | 'all',
): void {
  const open = permissions === 'all' || permissions.some(({ fields }) => fields.includes('*'));
  for (const name of names) {
    const field = collection.fields.get(name);
    if (!field && open) {
      throw fail('INVALID_PAYLOAD', `Field "${name.slice(0, 100)}" doesn't exist in collection "${collection.name}".`);
    }
    if (permissions !== 'all' && !(field && permissions.some((one) => lists(one, name, field)))) {
      throw fail('FORBIDDEN', `no ${action} permission on field ${name} of ${collection.name}`);
    }
  }
}
