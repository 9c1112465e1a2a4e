import { createOptionsBuilder, type PasskeyOptionsBuilder } from './options.ts';
import type { RelyingParty } from './relying-party.ts';
import { createResponseVerifier, type ResponseVerifier } from './verification.ts';

/** The WebAuthn protocol for one relying party. */
export interface WebAuthn extends PasskeyOptionsBuilder, ResponseVerifier {}

export const createWebAuthn = (party: RelyingParty): WebAuthn => ({
  ...createOptionsBuilder(party),
  ...createResponseVerifier(party),
});
