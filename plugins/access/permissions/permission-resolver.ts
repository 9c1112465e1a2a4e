import { randomBytes } from 'node:crypto';
import type { Caller } from '#kernel';
import type { CacheCandidate, InterProcessBus } from '../../cluster/contract.ts';
import { createAnnouncedCache } from '../../cluster/library.ts';
import type { Db } from '../../database/contract.ts';
import { PERMISSIONS_CHANGED_CHANNEL, type PermissionSet, PUBLIC_ROLE_ID, type Role } from '../contract.ts';
import { buildAppAccessPermissions } from './app-minimum.ts';

import { createAdminPermissionSet, createPermissionSet } from './permission-set.ts';
import { createPermissionReader, createRoleReader } from './stored-permissions.ts';

const APP_SUFFIX = ' app';
/** The size of each cache, in roles. */
const MAX_CACHED_ROLES = 1000;

interface Deps {
  readonly db: Db;
  readonly bus: InterProcessBus;
}

export interface PermissionResolver {
  /** Of a caller without a share. */
  permissions(caller: Caller): Promise<PermissionSet>;
  /** The stored permissions of a role, without those of app access; null is the Public role. */
  permissionsOfRole(role: string | null): Promise<PermissionSet>;
  role(id: string | null): Promise<Role | undefined>;
  /** Empties the caches after a change of roles or permissions. */
  forget(): void;
}

/** Reads permissions once per role and caches them until a role or a permission changes. */
export function createPermissionResolver({ db, bus }: Deps): PermissionResolver {
  // The nonce makes versions of different processes, and of a restarted process, different.
  const nonce = randomBytes(6).toString('base64url');
  let edition = 0;
  let uncacheable = 0;
  let admin = Promise.resolve(createAdminPermissionSet(`${nonce}.0`));

  const permissionsOf = createPermissionReader(db);
  async function readSet(key: string): Promise<CacheCandidate<PermissionSet>> {
    const before = edition;
    const { value, cacheable } = await permissionsOf(key.slice(0, PUBLIC_ROLE_ID.length));
    const version = cacheable && before === edition ? `${nonce}.${before}` : `${nonce}.${before}.${++uncacheable}`;
    return {
      value: createPermissionSet(version, key, value, key.endsWith(APP_SUFFIX) ? buildAppAccessPermissions(value) : []),
      cacheable,
    };
  }

  const cache = { bus, channel: PERMISSIONS_CHANGED_CHANNEL, max: MAX_CACHED_ROLES };
  const roles = createAnnouncedCache<Role | undefined>({ ...cache, read: createRoleReader(db) });
  const sets = createAnnouncedCache<PermissionSet>({
    ...cache,
    read: readSet,
    onForget() {
      admin = Promise.resolve(createAdminPermissionSet(`${nonce}.${++edition}`));
    },
  });

  return {
    permissions: ({ admin: isAdmin, role, app }) =>
      isAdmin ? admin : sets.get(app ? (role ?? PUBLIC_ROLE_ID) + APP_SUFFIX : (role ?? PUBLIC_ROLE_ID)),
    permissionsOfRole: (role) => sets.get(role ?? PUBLIC_ROLE_ID),
    role: (id) => roles.get(id ?? PUBLIC_ROLE_ID),
    forget() {
      roles.forget();
      sets.forget();
    },
  };
}
