import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { CHALLENGE_LIFETIME } from './challenges.ts';
import type { RelyingParty } from './relying-party.ts';
import { userHandleBytesOf } from './user-handle.ts';
import { ALGORITHMS } from './verification.ts';

/** The user of a registration, as the dialog of the browser shows it. */
export interface PasskeyUser {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
}

/** What a registration shows and excludes. */
export interface RegistrationContext {
  readonly projectName: string;
  /** The passkeys of the user: a device that holds one of them makes no second one. */
  readonly existing: readonly { readonly credential: string; readonly transports: readonly string[] }[];
}

/** Builds what the scripts of pages pass on to the browser, as JSON. The first call loads the library. */
export interface PasskeyOptionsBuilder {
  createRegistrationOptions(
    user: PasskeyUser,
    challenge: string,
    context: RegistrationContext,
  ): Promise<PublicKeyCredentialCreationOptionsJSON>;
  createSignInOptions(challenge: string): Promise<PublicKeyCredentialRequestOptionsJSON>;
}

export const createOptionsBuilder = ({ id: rpID }: RelyingParty): PasskeyOptionsBuilder => ({
  async createRegistrationOptions({ id, name, displayName }, challenge, { projectName, existing }) {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    return generateRegistrationOptions({
      rpName: projectName,
      rpID,
      userID: userHandleBytesOf(id),
      userName: name,
      userDisplayName: displayName,
      challenge,
      timeout: CHALLENGE_LIFETIME,
      excludeCredentials: existing.map(({ credential, transports }) => ({
        id: credential,
        transports: [...transports] as AuthenticatorTransport[],
      })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    });
  },

  async createSignInOptions(challenge) {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
    return generateAuthenticationOptions({
      rpID,
      challenge,
      timeout: CHALLENGE_LIFETIME,
      userVerification: 'required',
      allowCredentials: [],
    });
  },
});
