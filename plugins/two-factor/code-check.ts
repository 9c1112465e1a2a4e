import { fail, type Log } from '#kernel';
import type { AuthClientInfo, SignInAttempts } from '../auth/contract.ts';
import type { SecondFactorStore } from './second-factors.ts';
import type { SecondFactorEncryption } from './secret-encryption.ts';
import { findTimeStep, TIME_CODE } from './totp.ts';

/** Characters of the longest text that may be a code. */
const MAX_LENGTH = 64;
/** Users that the log names, each once since the start, however often a client tries; the log of further users stays empty. */
const MAX_NAMED_USERS = 1000;

interface Deps {
  readonly store: Pick<SecondFactorStore, 'enrolled' | 'useStep' | 'useRecoveryCode'>;
  readonly encryption: Pick<SecondFactorEncryption, 'open'>;
  readonly attempts: Pick<SignInAttempts, 'countCode'>;
  readonly log: Pick<Log, 'error'>;
}

/** Checks codes of users whose second factor is on. */
export interface CodeCheck {
  /**
   * Uses up a code of the authenticator app, or a recovery code. Of several requests with one code, in any process, one succeeds. A wrong
   * or used code counts as a failed sign-in.
   * @throws INVALID_OTP, USER_SUSPENDED and SERVICE_UNAVAILABLE as `SignInAttempts.countCode`
   */
  use(user: string, code: string, client: AuthClientInfo): Promise<void>;
}

export function createCodeCheck({ store, encryption, attempts, log }: Deps): CodeCheck {
  const named = new Set<string>();

  /** Fails closed: without its secret no code of the user can be right. It is not counted, since no code was compared. */
  function createUnverifiableFailure(user: string, reason: string) {
    if (!named.has(user) && named.size < MAX_NAMED_USERS) {
      named.add(user);
      const remedy = 'users:tfa-reset or POST /users/<id>/tfa/disable lets the user sign in without it';
      log.error({ user, remedy }, `the second factor of a user cannot be verified: ${reason}`);
    }
    return fail('INVALID_OTP', reason);
  }

  async function useTimeCode(user: string, code: string): Promise<boolean> {
    const enrolled = await store.enrolled(user);
    if (!enrolled) throw createUnverifiableFailure(user, 'platform_users.tfa_secret is set, and no secret is stored');
    const opened = await encryption.open(user, enrolled.secret);
    if (!opened)
      throw createUnverifiableFailure(
        user,
        'its secret was encrypted by another SECRETS_ENCRYPTION_KEY, or was changed',
      );
    const step = findTimeStep(opened.secret, code);
    return step !== undefined && store.useStep(user, enrolled.enrollment, step, opened.renewed);
  }

  async function matches(user: string, code: string): Promise<boolean> {
    if (code.length > MAX_LENGTH) return false;
    const text = code.replace(/[\s-]/g, '');
    return TIME_CODE.test(text) ? useTimeCode(user, text) : store.useRecoveryCode(user, text);
  }

  return {
    async use(user, code, client) {
      if (!(await attempts.countCode(user, client, () => matches(user, code))))
        throw fail('INVALID_OTP', 'the code is wrong or used');
    },
  };
}
