import { fail } from '#kernel';
import type { SignInAttempts } from '../auth/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { clientInfoOf, sendData } from '../http/library.ts';
import type { SecondFactorChanges } from './changes.ts';
import type { CodeCheck } from './code-check.ts';
import type { OwnAccount } from './own-account.ts';
import { assertPassword, textMember } from './request-members.ts';
import {
  COUNT_RECOVERY_CODES_ROUTE_DESCRIPTION,
  DISABLE_ROUTE_DESCRIPTION,
  RENEW_RECOVERY_CODES_ROUTE_DESCRIPTION,
  RESET_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';
import { parseUserKey, type SecondFactorStore } from './second-factors.ts';

export interface EnrolledRouteDeps {
  readonly readOwnAccount: (ctx: HttpContext) => Promise<OwnAccount>;
  readonly store: Pick<SecondFactorStore, 'countRecoveryCodes' | 'hasUser'>;
  readonly codes: CodeCheck;
  readonly changes: Pick<SecondFactorChanges, 'turnOff' | 'renewRecoveryCodes'>;
  readonly attempts: Pick<SignInAttempts, 'checkPassword'>;
}

function assertEnrolled({ isEnrolled }: OwnAccount): void {
  if (!isEnrolled) throw fail('INVALID_PAYLOAD', 'Two-factor sign-in is off.');
}

/** Routes of users whose second factor is on: turning it off, recovery codes, and the reset by an admin. */
export function enrolledRoutes(deps: EnrolledRouteDeps): readonly Route[] {
  const { readOwnAccount, store, codes, changes, attempts } = deps;

  async function disable(ctx: HttpContext): Promise<void> {
    const account = await readOwnAccount(ctx);
    const otp = textMember(ctx, 'otp');
    assertEnrolled(account);
    await codes.use(account.user, otp, clientInfoOf(ctx));
    await changes.turnOff(ctx.state.caller, account.user);
    sendData(ctx, undefined);
  }

  async function renew(ctx: HttpContext): Promise<void> {
    const account = await readOwnAccount(ctx);
    const otp = textMember(ctx, 'otp');
    assertEnrolled(account);
    await assertPassword(ctx, account, attempts);
    await codes.use(account.user, otp, clientInfoOf(ctx));
    const recovery_codes = await changes.renewRecoveryCodes(ctx.state.caller, account.user);
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, { recovery_codes });
  }

  async function count(ctx: HttpContext): Promise<void> {
    const { user, isEnrolled } = await readOwnAccount(ctx);
    sendData(ctx, { remaining: isEnrolled ? await store.countRecoveryCodes(user) : 0 });
  }

  async function reset(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (!caller.admin) throw fail('FORBIDDEN', 'only admins turn off the second factor of a user');
    const user = parseUserKey(ctx.params.id);
    if (user === undefined || !(await store.hasUser(user))) throw fail('FORBIDDEN', 'no user has this key');
    await changes.turnOff(caller, user);
    sendData(ctx, undefined);
  }

  const recoveryCodes = '/users/me/tfa/recovery-codes';
  return [
    { method: 'POST', path: '/users/me/tfa/disable', description: DISABLE_ROUTE_DESCRIPTION, handle: disable },
    { method: 'POST', path: recoveryCodes, description: RENEW_RECOVERY_CODES_ROUTE_DESCRIPTION, handle: renew },
    { method: 'GET', path: recoveryCodes, description: COUNT_RECOVERY_CODES_ROUTE_DESCRIPTION, handle: count },
    { method: 'POST', path: '/users/:id/tfa/disable', description: RESET_ROUTE_DESCRIPTION, handle: reset },
  ];
}
