import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { assertUsualPublicKey } from './public-key.ts';
import type { RelyingParty } from './relying-party.ts';

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

/** Verifies responses of browsers by the library, which the first call loads. Every method throws an Error with the reason of a refusal. */
export interface ResponseVerifier {
  /** Verifies all of a registration but its challenge. */
  verifyRegistration(credential: RegistrationResponseJSON): Promise<NewPasskey>;
  /** Verifies all of a sign-in but its challenge and its counter. */
  verifySignIn(
    credential: AuthenticationResponseJSON,
    stored: { readonly credential: string; readonly publicKey: string },
  ): Promise<{ readonly counter: number; readonly backedUp: boolean }>;
}

/** COSE identifiers of ES256, EdDSA and RS256: every authenticator has one of them. */
export const ALGORITHMS = [-7, -8, -257];

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

/** The challenge that a response answers, unverified. @throws Error for a malformed response, and for one of a page inside of a page of another origin */
export function challengeOf({ clientDataJSON }: { readonly clientDataJSON: string }): string {
  const { challenge, crossOrigin } = Object(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()));
  if (typeof challenge !== 'string') throw new Error('The response has no challenge.');
  if (crossOrigin) throw new Error('A page of another origin surrounds the page.');
  return Buffer.from(challenge, 'base64url').toString();
}

export function createResponseVerifier({ id, origins }: RelyingParty): ResponseVerifier {
  const expected = {
    // The caller has verified it. The message of the library would show it.
    expectedChallenge: () => true,
    expectedOrigin: [...origins],
    expectedRPID: id,
    requireUserVerification: true,
  };
  return {
    async verifyRegistration(credential) {
      const [{ verifyRegistrationResponse }, { decodeCredentialPublicKey }] = await Promise.all([
        import('@simplewebauthn/server'),
        import('@simplewebauthn/server/helpers'),
      ]);
      await assertNoCertificates(credential.response.attestationObject);
      const options = { ...expected, response: credential, supportedAlgorithmIDs: ALGORITHMS };
      const { verified, registrationInfo } = await verifyRegistrationResponse(options);
      if (!verified) throw new Error('The attestation is not signed by the new key.');
      const { credential: found, credentialBackedUp, credentialDeviceType } = registrationInfo;
      if (found.id !== credential.id) throw new Error('The response is about another credential.');
      assertUsualPublicKey(decodeCredentialPublicKey(found.publicKey) as never, found.publicKey.byteLength);
      return {
        credential: found.id,
        publicKey: Buffer.from(found.publicKey).toString('base64url'),
        counter: found.counter,
        synced: credentialDeviceType === 'multiDevice',
        backedUp: credentialBackedUp,
      };
    },

    async verifySignIn(credential, stored) {
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        ...expected,
        response: credential,
        // The statement that records the sign-in compares the counter, so that no response without a valid signature is reported.
        credential: { id: stored.credential, publicKey: bytesOf(stored.publicKey), counter: 0 },
      });
      if (!verified) throw new Error('The signature is wrong.');
      return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
    },
  };
}

/**
 * Only attestations without certificates are verified: the service trusts no maker of authenticators, and to check a certificate the
 * library would send requests to addresses that the client names.
 */
async function assertNoCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(bytesOf(attestationObject));
  const format = attestation.get('fmt');
  if (format === 'none') return;
  if (format !== 'packed' || attestation.get('attStmt').get('x5c') !== undefined)
    throw new Error('The attestation is neither "none" nor signed by the new key itself.');
}
