import { fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import { createAnnouncedCache } from '../cluster/library.ts';
import type { Db } from '../database/contract.ts';
import type { AccessTokenClaims } from './access-tokens.ts';
import { USER_STATUS_CHANGED_CHANNEL } from './contract.ts';

/** Maximum number of static tokens whose owners are cached. */
const MAX_CACHED_TOKENS = 20_000;

interface OwnerRow {
  readonly writing: boolean;
  readonly id: string;
  readonly status: string;
  readonly role: string | null;
}

type Owner = Pick<OwnerRow, 'id' | 'role'>;

interface Deps {
  readonly db: Db;
  readonly bus: InterProcessBus;
  readonly access: Pick<AccessControl, 'role'>;
}

export interface StaticTokenVerifier {
  /** The claims of the token's owner, with the role of this moment. @throws INVALID_CREDENTIALS, USER_SUSPENDED */
  claimsOf(token: string): Promise<AccessTokenClaims>;
  forget(): void;
}

/**
 * Caches the owners of static tokens until the status, token or role of any user changes: a trigger announces it, and the request
 * that revokes a token is answered once every process has dropped its cache (ADR 43). Tokens without an active owner are never
 * cached.
 */
export function createStaticTokenVerifier({ db, bus, access }: Deps): StaticTokenVerifier {
  const OWNER = db.sql`select pg_current_xact_id_if_assigned() is not null as writing, u.id, u.status, u.role
    from ${db.read('platform_users')} u where u.token = $1`;

  async function readOwner(token: string) {
    // PostgreSQL has no NUL in texts, so no user can have such a token.
    if (token.includes('\0')) throw fail('INVALID_CREDENTIALS', 'unknown token');
    const { rows } = await db.query<OwnerRow>(OWNER, [token], { name: 'auth_static_token' });
    const [row] = rows;
    if (!row) throw fail('INVALID_CREDENTIALS', 'unknown token');
    if (row.status !== 'active') throw fail('USER_SUSPENDED', `the owner of the token is ${row.status}`);
    return { value: { id: row.id, role: row.role }, cacheable: !row.writing };
  }

  const owners = createAnnouncedCache<Owner>({
    bus,
    channel: USER_STATUS_CHANGED_CHANNEL,
    max: MAX_CACHED_TOKENS,
    read: readOwner,
  });
  return {
    async claimsOf(token) {
      const { id, role } = await owners.get(token);
      const flags = role === null ? undefined : await access.role(role);
      return { id, role, admin_access: flags?.admin ?? false, app_access: flags?.app ?? false };
    },
    forget: () => owners.forget(),
  };
}
