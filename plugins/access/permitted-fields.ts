import type { Collection } from '../schema/contract.ts';
import type { Permission, PermissionAction, PermissionSet } from './contract.ts';
import { permissionListsField } from './restrict/row-rules.ts';

/** See `Access.permittedFields`. */
export function permittedFields(
  set: PermissionSet,
  action: PermissionAction,
  collection: Collection,
): ReadonlyMap<string, 'always' | 'some'> {
  const rows = set.of(collection.name, action);
  const found = new Map<string, 'always' | 'some'>();
  for (const field of collection.fields.values()) {
    const listing = set.admin ? rows : rows.filter((one) => permissionListsField(one, field.name, field));
    if (listing.length > 0)
      found.set(field.name, listing.length === rows.length || listing.some(isForAllRows) ? 'always' : 'some');
  }
  return found;
}

const isForAllRows = ({ rule }: Permission): boolean => rule === null || Object.keys(rule).length === 0;
