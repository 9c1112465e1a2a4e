import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { CHALLENGE_LIFETIME } from './challenges.ts';
import { assertUsualPublicKey } from './public-key.ts';
import type { RelyingParty } from './relying-party.ts';

/** The user of a registration, as the dialog of the browser shows it. */
export interface PasskeyUser {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
}

/** What a verified registration says about the new passkey. */
export interface NewPasskey {
  readonly credential: string;
  /** COSE, as base64url. */
  readonly publicKey: string;
  readonly counter: number;
  /** Whether the passkey may be copied to other devices of the user. */
  readonly synced: boolean;
  readonly backedUp: boolean;
}

/** The WebAuthn protocol for one relying party. Every method but `challengeOf` loads the library by its first call. */
export interface WebAuthn {
  createRegistrationOptions(
    user: PasskeyUser,
    challenge: string,
    project: {
      readonly name: string;
      readonly existing: readonly { readonly id: string; readonly transports: readonly string[] }[];
    },
  ): Promise<PublicKeyCredentialCreationOptionsJSON>;
  createSignInOptions(challenge: string): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** The challenge that a response answers, unverified. @throws Error for a malformed response, and one made inside of a page of another origin */
  challengeOf(response: { readonly clientDataJSON: string }): string;
  /** Verifies all of a response but its challenge. @throws Error with the reason */
  verifyRegistration(credential: RegistrationResponseJSON): Promise<NewPasskey>;
  /** Verifies all of a response but its challenge and its counter. @throws Error with the reason */
  verifySignIn(
    credential: AuthenticationResponseJSON,
    stored: { readonly credential: string; readonly publicKey: string },
  ): Promise<{ readonly counter: number; readonly backedUp: boolean }>;
}

/** COSE identifiers of ES256, EdDSA and RS256, which every authenticator has one of. */
export const ALGORITHMS = [-7, -8, -257];

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
const base64urlOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** The user handle of a passkey: the 16 bytes of the user's key. */
export const userHandleOf = (user: string): string =>
  Buffer.from(user.replaceAll('-', ''), 'hex').toString('base64url');

export function createWebAuthn({ id: rpID, origins }: RelyingParty): WebAuthn {
  const library = () => import('@simplewebauthn/server');
  const helpers = () => import('@simplewebauthn/server/helpers');
  const expected = (response: { readonly clientDataJSON: string }) => ({
    // The caller has verified it: the library must not, since its message would show the challenge.
    expectedChallenge: () => true,
    expectedOrigin: [...origins],
    expectedRPID: rpID,
    requireUserVerification: true,
    response,
  });

  /**
   * Only attestations without certificates are verified: the service trusts no maker of authenticators, and to check a certificate the
   * library would send requests to addresses that the client names.
   */
  async function assertNoCertificates(attestationObject: string): Promise<void> {
    const { decodeAttestationObject } = await helpers();
    const attestation = decodeAttestationObject(bytesOf(attestationObject));
    const format = attestation.get('fmt');
    if (format === 'none') return;
    if (format !== 'packed' || attestation.get('attStmt').get('x5c') !== undefined)
      throw new Error('The attestation has certificates, which the options do not ask for.');
  }

  return {
    async createRegistrationOptions(user, challenge, { name, existing }) {
      const { generateRegistrationOptions } = await library();
      return generateRegistrationOptions({
        rpName: name,
        rpID,
        userID: bytesOf(userHandleOf(user.id)),
        userName: user.name,
        userDisplayName: user.displayName,
        challenge,
        timeout: CHALLENGE_LIFETIME,
        excludeCredentials: existing as never,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: ALGORITHMS,
      });
    },

    async createSignInOptions(challenge) {
      const { generateAuthenticationOptions } = await library();
      return generateAuthenticationOptions({
        rpID,
        challenge,
        timeout: CHALLENGE_LIFETIME,
        userVerification: 'required',
        allowCredentials: [],
      });
    },

    challengeOf({ clientDataJSON }) {
      const { challenge, crossOrigin } = Object(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()));
      if (typeof challenge !== 'string') throw new Error('The response has no challenge.');
      if (crossOrigin) throw new Error('A page of another origin surrounds the page.');
      return Buffer.from(challenge, 'base64url').toString();
    },

    async verifyRegistration(credential) {
      await assertNoCertificates(credential.response.attestationObject);
      const { verifyRegistrationResponse } = await library();
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        ...expected(credential.response),
        response: credential,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (!verified) throw new Error('The attestation is not signed by the new key.');
      const { credential: found, credentialBackedUp, credentialDeviceType } = registrationInfo;
      if (found.id !== credential.id) throw new Error('The response is about another credential.');
      const { decodeCredentialPublicKey } = await helpers();
      assertUsualPublicKey(decodeCredentialPublicKey(found.publicKey) as never, found.publicKey.byteLength);
      return {
        credential: found.id,
        publicKey: base64urlOf(found.publicKey),
        counter: found.counter,
        synced: credentialDeviceType === 'multiDevice',
        backedUp: credentialBackedUp,
      };
    },

    async verifySignIn(credential, { credential: id, publicKey }) {
      const { verifyAuthenticationResponse } = await library();
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        ...expected(credential.response),
        response: credential,
        // The statement that records the sign-in compares the counter, so that no response without a valid signature is reported.
        credential: { id, publicKey: bytesOf(publicKey), counter: 0 },
      });
      if (!verified) throw new Error('The signature is wrong.');
      const { newCounter, credentialBackedUp } = authenticationInfo;
      return { counter: newCounter, backedUp: credentialBackedUp };
    },
  };
}
