import { randomBytes } from 'node:crypto';
import { Failure } from '#kernel';
import type { LinkTokens } from '../auth/contract.ts';

/** Milliseconds in which a challenge is answered; also the time that browsers give their users. */
export const CHALLENGE_LIFETIME = 5 * 60_000;

/** What a challenge of a registration proves: that this user has confirmed by the password, or by a sign-in. */
export interface RegistrationProof {
  readonly user: string;
  readonly passwordDigest: string;
}

/** A verified challenge: its id may be spent once. */
export type VerifiedChallenge<Proof> = Proof & { readonly id: string };

/**
 * Challenges are signed and not stored, so that clients without an account fill no table and every process verifies those of the
 * others. `verify` throws an Error with the reason.
 */
export interface PasskeyChallenges {
  createForRegistration(proof: RegistrationProof): string;
  verifyForRegistration(challenge: string): VerifiedChallenge<RegistrationProof>;
  createForSignIn(): string;
  verifyForSignIn(challenge: string): VerifiedChallenge<object>;
}

const REGISTRATION = 'passkey-registration';
const SIGN_IN = 'passkey-sign-in';

export function createPasskeyChallenges(tokens: LinkTokens): PasskeyChallenges {
  const create = (purpose: string, claims: object) =>
    tokens.sign(purpose, { ...claims, id: randomBytes(16).toString('base64url') }, CHALLENGE_LIFETIME);

  function verify<Proof>(purpose: string, challenge: string): VerifiedChallenge<Proof> {
    try {
      return tokens.verify(purpose, challenge) as VerifiedChallenge<Proof>;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Error(
        error.code === 'TOKEN_EXPIRED' ? 'The challenge is too old.' : 'The challenge is not of this service.',
      );
    }
  }

  return {
    createForRegistration: ({ user, passwordDigest }) => create(REGISTRATION, { user, passwordDigest }),
    verifyForRegistration: (challenge) => verify(REGISTRATION, challenge),
    createForSignIn: () => create(SIGN_IN, {}),
    verifyForSignIn: (challenge) => verify(SIGN_IN, challenge),
  };
}
