import { fail } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import { findNearestName } from '../../workers/library.ts';
import type { PermissionAction, PermissionSet } from '../contract.ts';
import { permissionListsField } from '../restrict/row-rules.ts';

/** The setting `ITEMS_UNKNOWN_FIELDS`: how a write treats unknown names in a payload. */
export type UnknownFieldsSetting = 'refuse' | 'ignore';

/**
 * The names of a payload that are fields the caller may write. For a caller who may write all fields, an unknown name is an error or
 * left out. For other callers it looks like a forbidden field, so that errors do not reveal which fields exist.
 *
 * @throws INVALID_PAYLOAD for an unknown name, FORBIDDEN for one that no permission lists.
 */
export function selectWritableFieldNames(
  collection: Collection,
  action: PermissionAction,
  names: readonly string[],
  set: PermissionSet,
  unknown: UnknownFieldsSetting,
): readonly string[] {
  const granted = set.of(collection.name, action);
  const open = set.admin || granted.some(({ fields }) => fields.includes('*'));
  return names.filter((name) => {
    const field = collection.fields.get(name);
    if (!field && open) {
      if (unknown === 'ignore') return false;
      throw unknownFieldFailure(collection, action, name, set);
    }
    if (!set.admin && !(field && granted.some((one) => permissionListsField(one, name, field)))) {
      throw fail('FORBIDDEN', `no ${action} permission on field ${name} of ${collection.name}`);
    }
    return true;
  });
}

function unknownFieldFailure(
  collection: Collection,
  action: PermissionAction,
  name: string,
  set: PermissionSet,
): Error {
  const shown = name.slice(0, 100);
  const nearest = findNearestName(name, suggestibleFields(collection, action, set));
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  const reason = `Field "${shown}" doesn't exist in collection "${collection.name}".${hint}`;
  return fail('INVALID_PAYLOAD', reason, { field: shown, path: [shown] });
}

/** Fields that an error may suggest: those that the caller may both write and read. */
const suggestibleFields = (collection: Collection, action: PermissionAction, set: PermissionSet): readonly string[] =>
  [...collection.fields.values()]
    .filter((field) =>
      ([action, 'read'] as const).every(
        (one) =>
          set.admin || set.of(collection.name, one).some((rule) => permissionListsField(rule, field.name, field)),
      ),
    )
    .map(({ name }) => name);
