import type { Db, GrantedSqlStatement } from '../database/contract.ts';
import { isUuid } from '../database/library.ts';
import type { AuthenticatedUser } from './contract.ts';
import { LOCAL_PROVIDER } from './driver.ts';
import type { SessionOwner } from './sessions.ts';

/** The row of a user who signs in. It holds the hash of the password, so that drivers of other plugins never receive it. */
export interface Account extends SessionOwner {
  readonly password: string | null;
  readonly tfa_secret: string | null;
}

export interface AccountLookup {
  byEmail(email: string): Promise<Account | undefined>;
  /**
   * The account of the user whom a driver of this provider has authenticated; undefined where there is no such user. An identifier that
   * only a user of another provider has finds that one, whose sign-in is refused.
   */
  bySignedIn(signedIn: AuthenticatedUser, provider?: string): Promise<Account | undefined>;
  /** The result of a driver that has already read the account: `bySignedIn` answers the account without another statement. */
  signedIn(account: Account): AuthenticatedUser;
}

export function createAccountLookup(db: Db): AccountLookup {
  const known = new WeakMap<AuthenticatedUser, Account>();

  const ACCOUNT = db.sql`select u.id, u.password, u.status, u.provider, u.tfa_secret, u.role, r.admin_access, r.app_access
    from ${db.read('platform_users')} u left join ${db.read('platform_roles')} r on r.id = u.role`;
  const BY_EMAIL = db.sql`${ACCOUNT} where lower(u.email) = lower($1)`;
  const BY_ID = db.sql`${ACCOUNT} where u.id = $1`;
  const BY_EXTERNAL_IDENTIFIER = db.sql`${ACCOUNT} where u.external_identifier = $1 order by (u.provider = $2) desc limit 1`;

  async function find(statement: GrantedSqlStatement, ...values: readonly string[]): Promise<Account | undefined> {
    // PostgreSQL has no NUL in texts.
    if (values.some((value) => value.includes('\0'))) return undefined;
    return (await db.query<Account>(statement, values)).rows[0];
  }

  return {
    byEmail: (email) => find(BY_EMAIL, email),

    async bySignedIn(signedIn, provider = LOCAL_PROVIDER) {
      const account = known.get(signedIn);
      if (account) return account;
      // The driver of another plugin may answer anything.
      const { user, externalIdentifier } = Object(signedIn) as { user?: unknown; externalIdentifier?: unknown };
      if (typeof user === 'string') return isUuid(user) ? find(BY_ID, user) : undefined;
      if (typeof externalIdentifier !== 'string') return undefined;
      return find(BY_EXTERNAL_IDENTIFIER, externalIdentifier, provider);
    },

    signedIn(account) {
      const signedIn = { user: account.id };
      known.set(signedIn, account);
      return signedIn;
    },
  };
}
