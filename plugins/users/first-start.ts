import { randomBytes } from 'node:crypto';
import { PUBLIC_ROLE } from '../access/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Passwords } from '../passwords/contract.ts';
import { table } from './tables.ts';

interface Deps {
  readonly db: Db;
  readonly passwords: Passwords;
  readonly admin: { readonly email: string; readonly password?: string };
  /** Shows a made-up password, which is stored nowhere in clear. */
  readonly show: (account: { readonly email: string; readonly password: string }) => void;
}

/** The Public role always, and an admin where there is none yet: was one made? Processes that start together make one. */
export async function firstStart({ db, passwords, admin, show }: Deps): Promise<boolean> {
  const password = admin.password ?? randomBytes(12).toString('base64url');
  const made = await db.transaction(async () => {
    await db.query(`select pg_advisory_xact_lock(hashtext('platform.first-start'))`);
    await db.query(
      `insert into ${table(db, 'roles')} (id, key, name, icon, description, admin_access, app_access)
      values ($1, 'public', 'Public', 'public', 'What anybody may do without signing in', false, false) on conflict do nothing`,
      [PUBLIC_ROLE],
    );
    if (await hasAdmin(db)) return false;
    const { rows } = await db.query(`select 1 from ${table(db, 'users')} where lower(email) = lower($1)`, [
      admin.email,
    ]);
    if (rows.length > 0) {
      throw Object.assign(new Error(`there is no admin, and ${admin.email} belongs to a user who is none`), {
        remedy: 'set ADMIN_EMAIL to an address that nobody has',
      });
    }
    await db.query(
      `insert into ${table(db, 'users')} (id, first_name, last_name, email, password, role, status, provider)
      values (gen_random_uuid(), 'Admin', 'User', $1, $2, $3, 'active', 'default')`,
      [admin.email, await passwords.hash(password), await adminRole(db)],
    );
    return true;
  });
  if (made && admin.password === undefined) show({ email: admin.email, password });
  return made;
}

async function hasAdmin(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from ${table(db, 'users')} u join ${table(db, 'roles')} r on r.id = u.role where r.admin_access limit 1`,
  );
  return rows.length > 0;
}

async function adminRole(db: Db): Promise<string> {
  const found = await db.query<{ id: string }>(
    `select id from ${table(db, 'roles')} where admin_access order by name, id limit 1`,
  );
  if (found.rows[0]) return found.rows[0].id;
  const { rows } = await db.query<{ id: string }>(
    `insert into ${table(db, 'roles')} (id, name, icon, description, admin_access, app_access)
    values (gen_random_uuid(), 'Administrator', 'verified', 'May do everything', true, true) returning id`,
  );
  return (rows[0] as { id: string }).id;
}
