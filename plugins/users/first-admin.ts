import { randomBytes } from 'node:crypto';
import { PUBLIC_ROLE_ID } from '../access/contract.ts';
import type { Db } from '../database/contract.ts';
import type { PasswordService } from '../passwords/contract.ts';
import type { PasswordPolicyAssertion } from './rules/password-policy.ts';
import type { UserStatements } from './statements.ts';

/** A client that guesses the token is an admin. The column holds no longer one. */
const MIN_TOKEN_LENGTH = 16;
const MAX_TOKEN_LENGTH = 255;

interface Deps {
  readonly db: Db;
  readonly statements: UserStatements;
  readonly passwords: PasswordService;
  readonly checkPassword: PasswordPolicyAssertion;
  readonly admin: { readonly email: string; readonly password?: string; readonly token?: string };
  /** Shows a generated password, which is stored as a hash only. */
  readonly show: (account: { readonly email: string; readonly password: string }) => void;
}

/**
 * Creates the Public role, and the first admin where there is none; true if it created the admin. Of processes that start
 * together only one creates the admin.
 */
export async function createFirstAdmin({
  db,
  statements,
  passwords,
  checkPassword,
  admin,
  show,
}: Deps): Promise<boolean> {
  const password = admin.password ?? randomBytes(12).toString('base64url');
  const isCreated = await db.transaction(async () => {
    await db.query(statements.LOCK_FIRST_START);
    await db.query(statements.ADD_PUBLIC_ROLE, [PUBLIC_ROLE_ID]);
    if ((await db.query(statements.HAS_ADMIN)).rows.length > 0) return false;
    const { rows } = await db.query(statements.HAS_EMAIL, [admin.email]);
    if (rows.length > 0) {
      throw Object.assign(new Error(`there is no admin, and ${admin.email} belongs to a user who is not one`), {
        remedy: 'set ADMIN_EMAIL to an address that no user has',
      });
    }
    await checkPassword(password).catch(() => {
      throw Object.assign(new Error('the password of the first admin does not match auth_password_policy'), {
        remedy: 'set ADMIN_PASSWORD to one that matches the setting auth_password_policy',
      });
    });
    if (admin.token !== undefined && (admin.token.length < MIN_TOKEN_LENGTH || admin.token.length > MAX_TOKEN_LENGTH)) {
      throw Object.assign(new Error('ADMIN_TOKEN is too short or too long'), {
        remedy: `set it to a random text of ${MIN_TOKEN_LENGTH} to ${MAX_TOKEN_LENGTH} characters, or unset it`,
      });
    }
    const hash = await passwords.hashBeforeServing(password);
    await db.query(statements.ADD_ADMIN, [admin.email, hash, await adminRole(db, statements), admin.token ?? null]);
    return true;
  });
  if (isCreated && admin.password === undefined) show({ email: admin.email, password });
  return isCreated;
}

async function adminRole(db: Db, { ADMIN_ROLE, ADD_ADMIN_ROLE }: UserStatements): Promise<string> {
  const found = await db.query<{ id: string }>(ADMIN_ROLE);
  if (found.rows[0]) return found.rows[0].id;
  const { rows } = await db.query<{ id: string }>(ADD_ADMIN_ROLE);
  return (rows[0] as { id: string }).id;
}
