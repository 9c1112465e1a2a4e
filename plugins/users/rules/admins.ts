import { type Caller, fail } from '#kernel';
import { has, isOn, type Payload, type RuleStore } from './change.ts';

/** By which a user signs in: whoever can set one of them can become that user. */
const SIGN_IN = ['email', 'password', 'token'];

/**
 * Rights over users and roles are not a way to become an admin: only admins set how admins sign in, and only admins make
 * a role one of admins, whatever field lists say.
 */
export async function sparesAdmins(
  { db, statements }: RuleStore,
  caller: Caller,
  payload: Payload,
  users: readonly string[],
): Promise<void> {
  if (caller.admin || users.length === 0 || !SIGN_IN.some((field) => has(payload, field))) return;
  const { rows } = await db.query(statements.ARE_ADMINS, [users]);
  if (rows.length > 0) throw fail('FORBIDDEN', 'only an admin changes how an admin signs in');
}

export function makesNoAdmins(caller: Caller, payload: Payload): void {
  if (!caller.admin && isOn(payload.admin_access)) throw fail('FORBIDDEN', 'only an admin makes a role one of admins');
}
