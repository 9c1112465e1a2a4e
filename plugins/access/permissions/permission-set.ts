import { createHash } from 'node:crypto';
import type { Permission, PermissionAction, PermissionSet } from '../contract.ts';
import { APP_ACCESS_PERMISSIONS } from './app-minimum.ts';

const FULL_ACCESS: Omit<Permission, 'collection' | 'action'> = {
  rule: null,
  validation: null,
  presets: null,
  fields: ['*'],
};
const NONE: readonly Permission[] = [];

/** Indexes permissions by collection and action, stored ones before those of app access. */
export function createPermissionSet(
  version: string,
  key: string,
  stored: readonly Permission[],
  minimum: readonly Permission[] = [],
): PermissionSet {
  const byTarget = new Map<string, Permission[]>();
  for (const row of [...stored, ...minimum]) {
    const target = `${row.action} ${row.collection}`;
    const others = byTarget.get(target);
    if (others) others.push(row);
    else byTarget.set(target, [row]);
  }
  let digest: string | undefined;
  return {
    version,
    key,
    get digest() {
      digest ??= createHash('sha256')
        .update(JSON.stringify([stored, minimum]))
        .digest('base64url');
      return digest;
    },
    admin: false,
    minimum,
    of: (collection, action) => byTarget.get(`${action} ${collection}`) ?? NONE,
  };
}

/** The permissions of an admin: each action on each collection has one permission without any restriction. */
export const createAdminPermissionSet = (version: string): PermissionSet => ({
  version,
  key: 'admin',
  digest: 'admin',
  admin: true,
  minimum: APP_ACCESS_PERMISSIONS,
  of: (collection: string, action: PermissionAction) => [{ ...FULL_ACCESS, collection, action }],
});
