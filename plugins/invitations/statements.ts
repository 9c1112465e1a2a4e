import type { Db } from '../database/contract.ts';

/** A user as far as invitations look at it. */
export interface InvitedUser {
  readonly id: string;
  readonly email: string;
  readonly password: string | null;
  readonly status: string;
  readonly role: string | null;
}

/** The rows stay locked: of concurrent uses of one invitation, one after the other sees the status. */
export function invitationStatements(db: Db) {
  const users = db.read('platform_users');
  const USER = db.sql`select id, email, password, status, role from ${users}`;
  return {
    LOCK_BY_EMAIL: db.sql`${USER} where lower(email) = lower($1) for update`,
    LOCK_BY_ID: db.sql`${USER} where id = $1 for update`,
  };
}

export type InvitationStatements = ReturnType<typeof invitationStatements>;
