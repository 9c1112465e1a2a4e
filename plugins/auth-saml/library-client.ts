import { stringify } from 'node:querystring';
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import type { IdentityProvider } from './idp-metadata.ts';
import type { ServiceProvider } from './service-provider.ts';

/** The request that a response has to answer, and how a new one asks. */
export interface ClientOptions {
  /** Milliseconds that the clocks may differ. */
  readonly tolerance: number;
  /** The id of the request that is made, or that was made; undefined where none matters. */
  readonly requestId?: string;
  readonly options?: Partial<SamlConfig>;
}

/** Creates the library's client for one message: it keeps nothing, since another process may receive the next message. */
export async function createSamlClient(
  idp: IdentityProvider,
  sp: ServiceProvider,
  { tolerance, requestId, options }: ClientOptions,
): Promise<SAML> {
  const keys = await sp.keyPair();
  const item = (value: string) => ({ value, createdAt: Date.now() });
  return new SAML({
    callbackUrl: sp.acsUrl,
    logoutCallbackUrl: sp.logoutUrl,
    entryPoint: idp.signInUrl,
    logoutUrl: idp.logoutUrl ?? '',
    issuer: sp.entityId,
    audience: sp.entityId,
    idpIssuer: idp.entityId,
    idpCert: [...idp.certificates],
    identifierFormat: sp.nameIdFormat,
    wantAuthnResponseSigned: sp.wantResponsesSigned,
    wantAssertionsSigned: sp.wantAssertionsSigned,
    acceptedClockSkewMs: tolerance,
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    ...(keys && { privateKey: keys.privateKey, decryptionPvk: keys.privateKey }),
    ...(requestId === undefined ? {} : { generateUniqueId: () => requestId }),
    validateInResponseTo: requestId === undefined ? ValidateInResponseTo.never : ValidateInResponseTo.always,
    // The browser keeps the id of its request in a signed cookie.
    cacheProvider: {
      saveAsync: async (_id, value) => item(value),
      getAsync: async (id) => (id === requestId ? new Date().toISOString() : null),
      removeAsync: async () => null,
    },
    ...options,
  });
}

/**
 * The address of a message with its query as the library signs it. The library writes some characters of the query, such as spaces,
 * otherwise than it signs them, and a provider compares the text.
 */
export function toSignedAddress(address: string): URL {
  const url = new URL(address);
  url.search = stringify(Object.fromEntries(url.searchParams));
  return url;
}
