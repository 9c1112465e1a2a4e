import type { Db } from '../database/contract.ts';

/** What a sign-in compares with what the provider says. */
export interface ProviderUserRow {
  readonly id: string;
  readonly status: string;
  readonly role: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly email: string | null;
}

/** Statements about users of providers. */
export function accountStatements(db: Db) {
  const users = db.write('platform_users');
  const USER = db.sql`select id, status, role, first_name, last_name, email from ${users}`;
  return {
    BY_IDENTIFIER: db.sql`${USER} where provider = $1 and external_identifier = $2`,
    /** A user whom an admin created for the provider, and who has not signed in yet. */
    PREPARED: db.sql`${USER} where provider = $1 and external_identifier is null and lower(email) = lower($2)`,
    PROVIDER_OF_EMAIL: db.sql`select id, provider from ${users} where lower(email) = lower($1)`,
    /** Held until the transaction ends, so that of two first sign-ins of one user the second finds the first. */
    LOCK: db.sql`select pg_advisory_xact_lock(hashtextextended($1, 0))`,

    TOKENS: db.sql`select auth_data::text as data from ${users} where id = $1 and auth_data is not null`,
    STORE_TOKENS: db.sql`update ${users} set auth_data = $2 where id = $1`,
    /** Changes the tokens only where no other process has changed them since they were read. */
    REPLACE_TOKENS: db.sql`update ${users} set auth_data = $3 where id = $1 and auth_data::text = $2 returning auth_data::text as data`,
  };
}

export type AccountStatements = ReturnType<typeof accountStatements>;
