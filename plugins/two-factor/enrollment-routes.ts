import { fail } from '#kernel';
import type { SignInAttempts } from '../auth/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { clientInfoOf, sendData } from '../http/library.ts';
import type { SettingsService } from '../settings/contract.ts';
import type { SecondFactorChanges } from './changes.ts';
import type { OwnAccount } from './own-account.ts';
import { assertPassword, textMember } from './request-members.ts';
import { ENABLE_ROUTE_DESCRIPTION, GENERATE_ROUTE_DESCRIPTION } from './route-descriptions.ts';
import type { SecondFactorStore } from './second-factors.ts';
import type { SecondFactorEncryption } from './secret-encryption.ts';
import { createTotpSecret, findTimeStep, renderOtpauthUrl, TIME_CODE } from './totp.ts';

export interface EnrollmentRouteDeps {
  readonly readOwnAccount: (ctx: HttpContext) => Promise<OwnAccount>;
  readonly store: Pick<SecondFactorStore, 'offer' | 'isOffered'>;
  readonly encryption: Pick<SecondFactorEncryption, 'seal'>;
  readonly changes: Pick<SecondFactorChanges, 'turnOn'>;
  readonly attempts: SignInAttempts;
  readonly settings: SettingsService;
}

const isOn = () => fail('INVALID_PAYLOAD', 'Two-factor sign-in is on already.');

/** The address, by which apps name the account. @throws INVALID_PAYLOAD where the second factor is on, and without an address. */
function requireEnrollableEmail({ isEnrolled, email }: OwnAccount): string {
  if (isEnrolled) throw isOn();
  if (!email) throw fail('INVALID_PAYLOAD', 'Two-factor sign-in needs a user with an e-mail address.');
  return email;
}

/** `POST /users/me/tfa/generate` and `enable`: a secret is offered, and enrolled with a code that proves the app has it. */
export function enrollmentRoutes(deps: EnrollmentRouteDeps): readonly Route[] {
  const { readOwnAccount, store, encryption, changes, attempts, settings } = deps;

  async function generate(ctx: HttpContext): Promise<void> {
    const account = await readOwnAccount(ctx);
    const { user } = account;
    const email = requireEnrollableEmail(account);
    await assertPassword(ctx, account, attempts);
    const { project_name: issuer } = await settings.current();
    const secret = createTotpSecret();
    if (!(await store.offer(user, secret))) throw isOn();
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, { secret, otpauth_url: renderOtpauthUrl(secret, issuer, email) });
  }

  async function enable(ctx: HttpContext): Promise<void> {
    const account = await readOwnAccount(ctx);
    const { user } = account;
    const [secret, otp] = [textMember(ctx, 'secret'), textMember(ctx, 'otp')];
    requireEnrollableEmail(account);
    // Only a secret that `generate` answered to this user, who knew the password then. It is random and long, unlike one of a client.
    if (!(await store.isOffered(user, secret)))
      throw fail('INVALID_PAYLOAD', '"secret" must be the one that was generated last, within the last hour.');
    const code = otp.replace(/\s/g, '');
    let step: number | undefined;
    const check = async () => {
      step = TIME_CODE.test(code) ? findTimeStep(secret, code) : undefined;
      return step !== undefined;
    };
    if (!(await attempts.countCode(user, clientInfoOf(ctx), check)) || step === undefined)
      throw fail('INVALID_OTP', 'the code is wrong');
    await changes.turnOn(ctx.state.caller, user, secret, await encryption.seal(user, secret), step);
    sendData(ctx, undefined);
  }

  return [
    { method: 'POST', path: '/users/me/tfa/generate', description: GENERATE_ROUTE_DESCRIPTION, handle: generate },
    { method: 'POST', path: '/users/me/tfa/enable', description: ENABLE_ROUTE_DESCRIPTION, handle: enable },
  ];
}
