import { fail } from '#kernel';
import type { WriteCheckStatementDeps } from './rule-deps.ts';

interface RemovedAdmins {
  /** Users that the change removes from the active admins. */
  readonly users?: readonly string[];
  /** Roles that the change removes from the admin roles. */
  readonly roles?: readonly string[];
}

interface RemainingAdmins {
  readonly lost: boolean;
  readonly users: string;
  readonly roles: string;
}

/**
 * Refuses a change that would leave the service without an active admin or an admin role. An advisory lock is held until the
 * transaction ends, so that of two concurrent changes, each of one of the last two admins, the second is refused. Admins that the
 * same transaction has removed already are kept in transaction-local settings.
 * @throws UNPROCESSABLE_ENTITY
 */
export async function assertAdminRemains(
  { db, statements }: WriteCheckStatementDeps,
  { users = [], roles = [] }: RemovedAdmins,
): Promise<void> {
  if (users.length + roles.length === 0) return;
  await db.query(statements.LOCK_LAST_ADMIN);
  const { rows } = await db.query<RemainingAdmins>(statements.ADMINS_LEFT, [users, roles]);
  const state = rows[0] as RemainingAdmins;
  if (state.lost) throw fail('UNPROCESSABLE_ENTITY', 'At least one active admin user must remain.');
  await db.query(statements.NOTE_LEAVING, [state.users, state.roles]);
}
