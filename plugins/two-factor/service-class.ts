import { type Caller, type Failure, fail } from '#kernel';
import type { AuthClientInfo } from '../auth/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { SecondFactorChanges } from './changes.ts';
import type { CodeCheck } from './code-check.ts';
import type { EnrollableAccount, SecondFactorEnrollment } from './enrollment.ts';
import type { OwnAccountReader } from './own-account.ts';
import { parseUserKey, type SecondFactorStore } from './second-factors.ts';

interface Deps {
  readonly accounts: Pick<OwnAccountReader, 'ofCaller'>;
  readonly store: Pick<SecondFactorStore, 'account'>;
  readonly codes: CodeCheck;
  readonly changes: Pick<SecondFactorChanges, 'turnOff'>;
  readonly enrollment: SecondFactorEnrollment;
}

/**
 * `TFAService` of code with full authority: `generateTFA(user)` answers `{ secret, url }`, `enableTFA(user, otp, secret)`,
 * `verifyOTP(user, otp)` uses up a code and answers whether it was right, `disableTFA(user, otp?)`. A user changes the own second factor
 * as by the routes, admins and code without accountability that of any user, and turn it off without a code. The password that the
 * routes ask for is asked for by the code, with `AuthenticationService.verifyPassword`.
 */
export function tfaServiceClass({ accounts, store, codes, changes, enrollment }: Deps): ServiceClass {
  async function readAccount(caller: Caller, key: unknown): Promise<EnrollableAccount> {
    const user = toUserKey(key);
    if (caller.user === user) return accounts.ofCaller(caller);
    const account = caller.admin ? await store.account(user) : undefined;
    if (!account)
      throw fail('FORBIDDEN', 'no user has this key, or only an admin may change the second factor of this user');
    return { ...account, user };
  }

  return {
    name: 'TFAService',
    methods: {
      async generateTFA(caller, [key]) {
        const { secret, otpauth_url: url } = await enrollment.offer(await readAccount(caller, key));
        return { secret, url };
      },
      async enableTFA(caller, [key, otp, secret]) {
        const account = await readAccount(caller, key);
        await enrollment.enroll(caller, account, {
          secret: String(secret),
          otp: String(otp),
          client: clientOf(caller),
        });
      },
      async verifyOTP(caller, [key, otp]) {
        const { user, isEnrolled } = await readAccount(caller, key);
        if (!isEnrolled) throw isOff();
        return codes.use(user, String(otp), clientOf(caller)).then(
          () => true,
          (error: Failure) => {
            if (error.code !== 'INVALID_OTP') throw error;
            return false;
          },
        );
      },
      async disableTFA(caller, [key, otp]) {
        const { user, isEnrolled } = await readAccount(caller, key);
        if (!isEnrolled) throw isOff();
        if (!caller.admin) await codes.use(user, typeof otp === 'string' ? otp : '', clientOf(caller));
        await changes.turnOff(caller, user);
      },
    },
  };
}

function toUserKey(key: unknown): string {
  const user = parseUserKey(key);
  if (user === undefined) throw fail('FORBIDDEN', 'no user has this key');
  return user;
}

const isOff = (): Failure => fail('INVALID_PAYLOAD', 'Two-factor sign-in is off.');

const clientOf = ({ ip = null, userAgent = null, origin = null }: Caller): AuthClientInfo => ({
  ip,
  userAgent,
  origin,
});
