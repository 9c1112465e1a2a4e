import { fail } from '#kernel';
import type { SignInAttempts } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { bodyOf, clientInfoOf } from '../http/library.ts';
import type { OwnAccount } from './own-account.ts';

/** A required text of the body. @throws INVALID_PAYLOAD */
export function textMember(ctx: HttpContext, name: string): string {
  const body = bodyOf(ctx);
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  if (typeof value !== 'string') throw fail('INVALID_PAYLOAD', `"${name}" must be a text`, { path: [name] });
  return value;
}

/**
 * Checks the password of the body for users who sign in by one. Users of other providers have none that the service could check.
 * @throws INVALID_PAYLOAD without it, INVALID_CREDENTIALS, and as `SignInAttempts.checkPassword`
 */
export async function assertPassword(
  ctx: HttpContext,
  { user, needsPassword }: OwnAccount,
  attempts: Pick<SignInAttempts, 'checkPassword'>,
): Promise<void> {
  if (!needsPassword) return;
  const password = textMember(ctx, 'password');
  if (!(await attempts.checkPassword(user, password, clientInfoOf(ctx))))
    throw fail('INVALID_CREDENTIALS', 'wrong password');
}
