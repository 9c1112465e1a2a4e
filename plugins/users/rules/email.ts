import { Failures, fail } from '#kernel';
import type { WriteCheckStatementDeps } from './rule-deps.ts';

const ADDRESS = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/**
 * Asserts that an e-mail address is well formed and unique without regard to case. @throws FAILED_VALIDATION, RECORD_NOT_UNIQUE
 */
export async function assertUniqueEmailAddress(
  { db, statements }: WriteCheckStatementDeps,
  email: unknown,
  keys: readonly string[],
): Promise<void> {
  if (email === null) return;
  if (typeof email !== 'string' || !ADDRESS.test(email)) {
    throw new Failures([
      fail('FAILED_VALIDATION', 'Validation failed for field "email": the value is not an e-mail address.', {
        field: 'email',
        path: [],
        type: 'email',
      }),
    ]);
  }
  const { rows } = await db.query(statements.EMAIL_OF_OTHERS, [email, keys]);
  if (rows.length > 0 || keys.length > 1) {
    throw fail('RECORD_NOT_UNIQUE', 'Value of email has to be unique.', {
      collection: 'platform_users',
      field: 'email',
      path: ['email'],
    });
  }
}
