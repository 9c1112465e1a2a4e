import { fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { Claims } from './access-tokens.ts';

interface Owner {
  readonly id: string;
  readonly status: string;
  readonly role: string | null;
  readonly admin_access: boolean | null;
  readonly app_access: boolean | null;
}

/** Whose static token this is, asked of the database each time: such a token ends when its owner's account does. */
export type OwnerOf = (token: string) => Promise<Claims>;

export function createOwnerOf(db: Db): OwnerOf {
  const OWNER = db.sql`select u.id, u.status, u.role, r.admin_access, r.app_access
    from ${db.read('platform_users')} u left join ${db.read('platform_roles')} r on r.id = u.role where u.token = $1`;
  return async (token) => {
    // PostgreSQL has no NUL in texts, so no user can have such a token.
    if (token.includes('\0')) throw fail('INVALID_CREDENTIALS', 'unknown token');
    const { rows } = await db.query<Owner>(OWNER, [token], { name: 'auth_static_token' });
    const owner = rows[0];
    if (!owner) throw fail('INVALID_CREDENTIALS', 'unknown token');
    if (owner.status !== 'active') throw fail('USER_SUSPENDED', `the owner of the token is ${owner.status}`);
    return {
      id: owner.id,
      role: owner.role,
      admin_access: owner.admin_access ?? false,
      app_access: owner.app_access ?? false,
    };
  };
}
