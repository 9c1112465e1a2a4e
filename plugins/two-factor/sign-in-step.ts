import { fail } from '#kernel';
import type { SignInCheckStep } from '../auth/contract.ts';
import type { CodeCheck } from './code-check.ts';

/** The step between credential and session that verifies one-time codes, for every driver. */
export const createSecondFactorStep = (codes: CodeCheck): SignInCheckStep => ({
  name: 'second-factor',
  order: 200,
  verifiesSecondFactor: true,
  async check({ user, isSecondFactorVerified, otp, client }) {
    if (!user.hasSecondFactor || isSecondFactorVerified) return;
    // A client that does not know of the second factor yet guesses nothing, so this is no failed attempt.
    if (otp === undefined || otp.trim() === '') throw fail('INVALID_OTP', 'the sign-in has no one-time code');
    await codes.use(user.id, otp, client);
  },
});
