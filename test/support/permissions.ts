import type { Access, Permission, PermissionSet } from '../../plugins/access/contract.ts';
import {
  createAdminPermissionSet,
  createPermissionSet as createRolePermissionSet,
} from '../../plugins/access/permissions/permission-set.ts';
import { permittedFields } from '../../plugins/access/permitted-fields.ts';

/** The permissions of a role with these rows, or those of an admin. `key` is what callers with equal permissions share. */
export const createPermissionSet = (rows: readonly Permission[] | 'admin', key?: string): PermissionSet => {
  const set = rows === 'admin' ? createAdminPermissionSet('1') : createRolePermissionSet('1', 'a-role', rows);
  return key === undefined ? set : { ...set, key };
};

/** The part of the service `access` that schemas by permissions are built from; `permissions` says what each caller may do. */
export const createTestAccess = (
  permissions: (role: string | null) => PermissionSet = () => createPermissionSet('admin'),
): Pick<Access, 'permissions' | 'permittedFields'> => ({
  permissions: async ({ role }) => permissions(role),
  permittedFields,
});
