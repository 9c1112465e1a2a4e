import { createHash } from 'node:crypto';
import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import type { AccessTokenCodec } from './access-tokens.ts';
import type { AccountLookup } from './accounts.ts';
import type { Reauthentication, SignInAttempts } from './contract.ts';
import { LOCAL_PROVIDER } from './driver.ts';
import { delayFailures } from './failure-delay.ts';
import { presentedToken } from './presented-token.ts';

interface Deps {
  readonly accounts: AccountLookup;
  readonly attempts: Pick<SignInAttempts, 'checkPassword'>;
  readonly tokens: Pick<AccessTokenCodec, 'verify'>;
  /** Milliseconds that a refusal takes at least. */
  readonly stallTime: number;
}

/** Seconds after a sign-in in which access tokens of its session prove it. */
const RECENT = 300;

/** The service `reauthentication`. */
export function createReauthentication({ accounts, attempts, tokens, stallTime }: Deps): Reauthentication {
  function isRecentSignIn(ctx: HttpContext): boolean {
    const token = presentedToken(ctx);
    const signedInAt = token === undefined ? undefined : tokens.verify(token)?.claims.auth_time;
    return typeof signedInAt === 'number' && Date.now() / 1000 - signedInAt <= RECENT;
  }

  async function assertPassword(user: string, password: unknown, ip: string | null): Promise<void> {
    if (typeof password !== 'string')
      throw fail('INVALID_PAYLOAD', '"password" must be a text', { path: ['password'] });
    if (!(await attempts.checkPassword(user, password, { ip }))) throw fail('INVALID_CREDENTIALS', 'wrong password');
  }

  async function confirm(ctx: HttpContext, password: unknown) {
    const { user, ip = null } = ctx.state.caller;
    if (user === null) throw fail('INVALID_CREDENTIALS', 'the request has no user');
    if (ctx.state.usesStaticToken) throw fail('FORBIDDEN', 'a static token does not prove that the user is present');
    const account = await accounts.bySignedIn({ user });
    if (!account) throw fail('INVALID_CREDENTIALS', 'the user does not exist');
    if (account.status !== 'active') throw fail('USER_SUSPENDED', `the user is ${account.status}`);
    const hasPassword = account.provider === LOCAL_PROVIDER && account.password !== null;
    // Only a sign-in verifies a second factor, and only a sign-in proves a user of another provider.
    if ((!hasPassword || account.tfa_secret !== null) && !isRecentSignIn(ctx))
      throw fail('INVALID_CREDENTIALS', 'the sign-in is too long ago', { reason: 'recent_sign_in_required' });
    if (hasPassword) await assertPassword(user, password, ip);
    return { user: account.id, passwordDigest: digestOf(account.password) };
  }

  return { confirm: (ctx, password) => delayFailures(stallTime, () => confirm(ctx, password)) };
}

const digestOf = (storedPassword: string | null): string =>
  createHash('sha256')
    .update(storedPassword ?? '')
    .digest('hex');
