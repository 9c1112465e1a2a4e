import { createHash } from 'node:crypto';
import type { Db } from '../database/contract.ts';

/** Finds the users whom an identity provider means by a name (NameID). */
export interface UsersByName {
  /** Keeps which identifier a name stands for, where the name is not the identifier itself. */
  remember(provider: string, name: string, identifier: string): Promise<void>;
  /** The keys of the users of the provider with this name: one or none. */
  find(provider: string, name: string): Promise<readonly string[]>;
}

/** Rows that one sign-in deletes after their expiry: more than it adds, so that the table does not grow. */
const DELETED_AT_A_TIME = 20;
/** A user without a sign-in for so long has no session that the provider could end. */
const KEPT_DAYS = 90;

export function createUsersByName(db: Db): UsersByName {
  const names = db.own('platform_saml_names');
  const REMEMBER = db.sql`with old as (
      delete from ${names} where id in (
        select id from ${names} where expires < now() and id <> $1 limit ${db.literal(String(DELETED_AT_A_TIME))}::integer
        for update skip locked)
    )
    insert into ${names} (id, identifier, expires)
    values ($1, $2, now() + ${db.literal(String(KEPT_DAYS))}::integer * interval '1 day')
    on conflict (id) do update set identifier = excluded.identifier, expires = excluded.expires`;
  // A name that no row stands for is the identifier itself.
  const FIND = db.sql`select id from ${db.read('platform_users')} where provider = $1
    and external_identifier = coalesce((select identifier from ${names} where id = $2 and expires > now()), $3)`;
  const hashOf = (provider: string, name: string) =>
    createHash('sha256')
      .update(JSON.stringify([provider, name]))
      .digest('hex');

  return {
    async remember(provider, name, identifier) {
      if (name !== identifier) await db.query(REMEMBER, [hashOf(provider, name), identifier]);
    },
    async find(provider, name) {
      const { rows } = await db.query<{ id: string }>(FIND, [provider, hashOf(provider, name), name]);
      return rows.map(({ id }) => id);
    },
  };
}
