import { fail } from '#kernel';
import type { Db } from '../../database/contract.ts';
import { table } from '../tables.ts';

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
export async function keepAnAdmin(db: Db, { users = [], roles = [] }: Leaving): Promise<void> {
  if (users.length + roles.length === 0) return;
  await db.query(`select pg_advisory_xact_lock(hashtext('platform.last-admin'))`);
  const { rows } = await db.query<State>(
    `with leaving_roles as (
      select unnest($2::uuid[] || string_to_array(nullif(current_setting('platform.leaving_roles', true), ''), ',')::uuid[]) as id
    ), leaving as (
      select id from ${table(db, 'users')} where id = any($1::uuid[]) or role in (select id from leaving_roles)
      union select unnest(string_to_array(nullif(current_setting('platform.leaving_users', true), ''), ',')::uuid[])
    ), admin_roles as (
      select id, id in (select id from leaving_roles) as leaving from ${table(db, 'roles')} where admin_access
    ), admins as (
      select u.id in (select id from leaving) as leaving
      from ${table(db, 'users')} u join admin_roles r on r.id = u.role where u.status = 'active'
    )
    select (select coalesce(bool_and(leaving), false) from admins) or (select coalesce(bool_and(leaving), false) from admin_roles) as lost,
      coalesce((select string_agg(id::text, ',') from leaving), '') as users,
      coalesce((select string_agg(id::text, ',') from leaving_roles), '') as roles`,
    [users, roles],
  );
  const state = rows[0] as State;
  if (state.lost) throw fail('UNPROCESSABLE_ENTITY', 'At least one active admin user must remain.');
  await db.query(
    `select set_config('platform.leaving_users', $1, true), set_config('platform.leaving_roles', $2, true)`,
    [state.users, state.roles],
  );
}
