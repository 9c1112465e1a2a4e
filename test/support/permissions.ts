import type { AccessControl, Permission, PermissionSet } from '../../plugins/access/contract.ts';
import {
  createAdminPermissionSet,
  createPermissionSet as createRolePermissionSet,
} from '../../plugins/access/permissions/permission-set.ts';
import { permittedFields } from '../../plugins/access/permitted-fields.ts';

/** Creates the permissions of a role with these rows, or of an admin. Callers with equal permissions share the cache `key`. */
export const createPermissionSet = (rows: readonly Permission[] | 'admin', key?: string): PermissionSet => {
  const set = rows === 'admin' ? createAdminPermissionSet('1') : createRolePermissionSet('1', 'a-role', rows);
  return key === undefined ? set : { ...set, key };
};

/** A fake of the service `access`, as far as GraphQL schemas are built from it; `permissions` returns those of a role. */
export const createFakeAccessService = (
  permissions: (role: string | null) => PermissionSet = () => createPermissionSet('admin'),
): Pick<AccessControl, 'permissions' | 'permittedFields'> => ({
  permissions: async ({ role }) => permissions(role),
  permittedFields,
});
