import { fail } from '#kernel';
import type { RuleStore } from './change.ts';

interface Leaving {
  /** Users who will not be active admins any more. */
  readonly users?: readonly string[];
  /** Roles that will not be admin roles any more. */
  readonly roles?: readonly string[];
}

interface State {
  readonly lost: boolean;
  readonly users: string;
  readonly roles: string;
}

/**
 * Refuses what would leave the service without an active admin or an admin role. Whoever takes an admin away holds a
 * lock until his transaction ends, so that of two who each take one of the last two, the second is refused. Those
 * already on their way out in the same transaction are remembered in settings that end with it.
 */
export async function keepAnAdmin({ db, statements }: RuleStore, { users = [], roles = [] }: Leaving): Promise<void> {
  if (users.length + roles.length === 0) return;
  await db.query(statements.LOCK_LAST_ADMIN);
  const { rows } = await db.query<State>(statements.ADMINS_LEFT, [users, roles]);
  const state = rows[0] as State;
  if (state.lost) throw fail('UNPROCESSABLE_ENTITY', 'At least one active admin user must remain.');
  await db.query(statements.NOTE_LEAVING, [state.users, state.roles]);
}
