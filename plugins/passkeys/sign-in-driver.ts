import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { fail } from '#kernel';
import type { AuthenticatedUser, CredentialsDriver } from '../auth/contract.ts';
import { toClientNetworkKey } from '../outbound/library.ts';
import { createFairSemaphore } from '../workers/library.ts';
import type { PasskeyChallenges } from './challenges.ts';
import { SIGN_IN_BODY_SCHEMA } from './credential-schemas.ts';
import type { PasskeyStore, StoredPasskey } from './passkey-store.ts';
import { refuseWith } from './refusal.ts';
import { userHandleOf } from './user-handle.ts';
import { challengeOf } from './verification.ts';
import type { WebAuthn } from './webauthn.ts';

interface Deps {
  readonly challenges: PasskeyChallenges;
  readonly store: Pick<PasskeyStore, 'findByCredential' | 'recordSignIn'>;
  readonly webauthn: Pick<WebAuthn, 'verifySignIn'>;
}

/** The user of a passkey that was found by its credential. */
interface FoundPasskey {
  /** Key of the user. */
  readonly id: string;
  readonly passkey: StoredPasskey;
}

/** Sign-ins that are verified at a time in this process, shared fairly between client networks. Milliseconds. */
const LIMITS = { limit: 6, limitOfKey: 4, queue: 256, queueOfKey: 64, deadline: 10_000 } as const;

const tooMany = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many sign-ins by passkeys at a time. Try again later.', { retryAfter: 2 });

/** Sign-in by a passkey: `POST /auth/login/passkey`. */
export function createPasskeyDriver({ challenges, store, webauthn }: Deps): CredentialsDriver<FoundPasskey> {
  const places = createFairSemaphore({ ...LIMITS, refuse: tooMany });

  async function verify(
    credential: AuthenticationResponseJSON,
    found: FoundPasskey | undefined,
  ): Promise<AuthenticatedUser> {
    const challenge = challenges.verifyForSignIn(challengeOf(credential.response));
    if (!found || found.passkey.credential !== credential.id) throw new Error('no user has this passkey');
    const { passkey } = found;
    if (credential.response.userHandle !== userHandleOf(passkey.user))
      throw new Error('the passkey is of another user');
    const state = await webauthn.verifySignIn(credential, passkey);
    await store.recordSignIn(passkey, challenge, state);
    // The device has verified its user: a response without that flag is refused.
    return { user: passkey.user, isSecondFactorVerified: true };
  }

  return {
    kind: 'credentials',
    name: 'passkey',
    provider: 'passkey',
    icon: 'passkey',
    label: 'Passkey',
    anyProvider: true,
    verifiesSecondFactor: true,
    schema: SIGN_IN_BODY_SCHEMA,
    identifiers: [],
    async find({ credential }) {
      const passkey = await store.findByCredential((credential as AuthenticationResponseJSON).id);
      return passkey && { id: passkey.user, passkey };
    },
    authenticate: ({ credential }, { ip = null }, found) =>
      places.run(toClientNetworkKey(ip), () =>
        refuseWith('INVALID_CREDENTIALS', () => verify(credential as AuthenticationResponseJSON, found)),
      ),
  };
}
