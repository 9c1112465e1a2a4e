import { type Caller, fail } from '#kernel';
import type { AuthClientInfo, SignInAttempts } from '../auth/contract.ts';
import type { SettingsService } from '../settings/contract.ts';
import type { SecondFactorChanges } from './changes.ts';
import type { SecondFactorStore, TwoFactorAccount } from './second-factors.ts';
import type { SecondFactorEncryption } from './secret-encryption.ts';
import { createTotpSecret, findTimeStep, renderOtpauthUrl, TIME_CODE } from './totp.ts';

export interface EnrollmentDeps {
  readonly store: Pick<SecondFactorStore, 'offer' | 'isOffered'>;
  readonly encryption: Pick<SecondFactorEncryption, 'seal'>;
  readonly changes: Pick<SecondFactorChanges, 'turnOn'>;
  readonly attempts: Pick<SignInAttempts, 'countCode'>;
  readonly settings: SettingsService;
}

/** A user who may enroll. */
export interface EnrollableAccount extends Pick<TwoFactorAccount, 'email' | 'isEnrolled'> {
  readonly user: string;
}

/** A secret is offered, and enrolled with a code that proves the app has it. Whether the caller may is checked before. */
export interface SecondFactorEnrollment {
  /** @throws INVALID_PAYLOAD where the second factor is on, and without an address */
  offer(account: EnrollableAccount): Promise<{ readonly secret: string; readonly otpauth_url: string }>;
  /** @throws INVALID_PAYLOAD as `offer`, and for another secret than the one offered last; INVALID_OTP, as `SignInAttempts.countCode` */
  enroll(caller: Caller, account: EnrollableAccount, proof: EnrollmentProof): Promise<void>;
}

export interface EnrollmentProof {
  readonly secret: string;
  readonly otp: string;
  readonly client: AuthClientInfo;
}

const isOn = () => fail('INVALID_PAYLOAD', 'Two-factor sign-in is on already.');

/** The address, by which apps name the account. */
export function requireEnrollableEmail({ isEnrolled, email }: EnrollableAccount): string {
  if (isEnrolled) throw isOn();
  if (!email) throw fail('INVALID_PAYLOAD', 'Two-factor sign-in needs a user with an e-mail address.');
  return email;
}

export const createSecondFactorEnrollment = ({
  store,
  encryption,
  changes,
  attempts,
  settings,
}: EnrollmentDeps): SecondFactorEnrollment => ({
  async offer(account) {
    const email = requireEnrollableEmail(account);
    const { project_name: issuer } = await settings.current();
    const secret = createTotpSecret();
    if (!(await store.offer(account.user, secret))) throw isOn();
    return { secret, otpauth_url: renderOtpauthUrl(secret, issuer, email) };
  },

  async enroll(caller, account, { secret, otp, client }) {
    requireEnrollableEmail(account);
    const { user } = account;
    // Only a secret that was offered to this user. It is random and long, unlike one of a client.
    if (!(await store.isOffered(user, secret)))
      throw fail('INVALID_PAYLOAD', '"secret" must be the one that was generated last, within the last hour.');
    const code = otp.replace(/\s/g, '');
    let step: number | undefined;
    const check = async () => {
      step = TIME_CODE.test(code) ? findTimeStep(secret, code) : undefined;
      return step !== undefined;
    };
    if (!(await attempts.countCode(user, client, check)) || step === undefined)
      throw fail('INVALID_OTP', 'the code is wrong');
    await changes.turnOn(caller, user, secret, await encryption.seal(user, secret), step);
  },
});
