import type { Db } from '../../database/contract.ts';
import type { AccountStatements, ProviderUserRow } from '../account-statements.ts';

/** A user as far as a sign-in by a provider depends on it. */
export interface CheckedUser extends ProviderUserRow {
  readonly external_identifier: string | null;
  readonly has_second_factor: boolean;
}

/** Reads of `auth check`, which changes nothing. */
export interface CheckStatements {
  /** The user of the provider with this identifier, e-mail address or key; the identifier counts first. */
  findUser(provider: string, text: string): Promise<CheckedUser | undefined>;
  /** The user whom an admin has prepared for the provider. */
  findPrepared(provider: string, email: string): Promise<ProviderUserRow | undefined>;
  /** The provider of the user with this e-mail address. */
  findProviderOfEmail(email: string): Promise<string | undefined>;
  /** Names of roles by their keys, of those that exist. */
  readRoleNames(roles: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export function createCheckStatements(db: Db, statements: AccountStatements): CheckStatements {
  const USER = db.sql`select id, status, role, first_name, last_name, email, external_identifier,
      tfa_secret is not null as has_second_factor
    from ${db.write('platform_users')}
    where provider = $1 and (external_identifier = $2 or lower(email) = lower($2) or id::text = lower($2))
    order by (external_identifier = $2) desc nulls last limit 1`;
  const ROLES = db.sql`select id, name from ${db.read('platform_roles')} where id = any($1::uuid[])`;
  const first = async <Row>(statement: Parameters<Db['query']>[0], params: readonly unknown[]) =>
    (await db.query<Row>(statement, params)).rows[0];

  return {
    findUser: (provider, text) => first<CheckedUser>(USER, [provider, text]),
    findPrepared: (provider, email) => first<ProviderUserRow>(statements.PREPARED, [provider, email]),
    findProviderOfEmail: async (email) =>
      (await first<{ provider: string }>(statements.PROVIDER_OF_EMAIL, [email]))?.provider,
    async readRoleNames(roles) {
      const { rows } = await db.query<{ id: string; name: string }>(ROLES, [roles]);
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}
