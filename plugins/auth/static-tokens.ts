import { fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { Claims } from './access-tokens.ts';
import { table } from './tables.ts';

interface Owner {
  readonly id: string;
  readonly status: string;
  readonly role: string | null;
  readonly admin_access: boolean | null;
  readonly app_access: boolean | null;
}

/** Whose static token this is, asked of the database each time: such a token ends when its owner's account does. */
export async function ownerOf(db: Db, token: string): Promise<Claims> {
  // PostgreSQL has no NUL in texts, so nobody can have such a token.
  if (token.includes('\0')) throw fail('INVALID_CREDENTIALS', 'unknown token');
  const { rows } = await db.query<Owner>(
    `select u.id, u.status, u.role, r.admin_access, r.app_access
    from ${table(db, 'users')} u left join ${table(db, 'roles')} r on r.id = u.role where u.token = $1`,
    [token],
    { name: 'auth_static_token' },
  );
  const owner = rows[0];
  if (!owner) throw fail('INVALID_CREDENTIALS', 'unknown token');
  if (owner.status !== 'active') throw fail('USER_SUSPENDED', `the owner of the token is ${owner.status}`);
  return {
    id: owner.id,
    role: owner.role,
    admin_access: owner.admin_access ?? false,
    app_access: owner.app_access ?? false,
  };
}
