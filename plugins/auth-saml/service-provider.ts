import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { generateServiceProviderMetadata } from '@node-saml/node-saml';
import type { ProviderSettings } from '../auth-providers/contract.ts';
import { attributeOf, childNamed, childrenNamed, METADATA_LIMITS, NAMESPACES, parseUntrustedXml } from './xml.ts';

/** This service, as the identity provider knows it. */
export interface ServiceProvider {
  readonly entityId: string;
  /** Where the browser brings responses (assertion consumer service). */
  readonly acsUrl: string;
  readonly logoutUrl: string;
  readonly nameIdFormat: string | null;
  readonly wantResponsesSigned: boolean;
  readonly wantAssertionsSigned: boolean;
  /** The key that signs and decrypts; read anew for each sign-in, since its file may change. */
  privateKey(): Promise<string | undefined>;
  /** The metadata as XML. */
  metadata(): Promise<string>;
}

/** @throws Error with the variable to correct */
export async function openServiceProvider(provider: ProviderSettings): Promise<ServiceProvider> {
  const acsUrl = provider.urlOf('acs');
  const written = provider.value('SP_metadata');
  const certificate = provider.value('SP_CERTIFICATE');
  const entityId = provider.value('SP_ENTITY_ID') ?? provider.urlOf('metadata');
  const self: ServiceProvider = {
    entityId: written === undefined ? entityId : parseOwnMetadata(provider, written, acsUrl),
    acsUrl,
    logoutUrl: provider.urlOf('logout'),
    nameIdFormat: provider.value('NAME_ID_FORMAT') ?? null,
    wantResponsesSigned: provider.value<boolean>('SP_WANT_RESPONSES_SIGNED'),
    wantAssertionsSigned: provider.value<boolean>('SP_WANT_ASSERTIONS_SIGNED'),
    privateKey: () => provider.secret('SP_PRIVATE_KEY'),
    async metadata() {
      if (written !== undefined) return written;
      const privateKey = await self.privateKey();
      const keys = privateKey === undefined ? {} : { privateKey, decryptionPvk: privateKey };
      return generateServiceProviderMetadata({
        ...keys,
        issuer: self.entityId,
        callbackUrl: acsUrl,
        logoutCallbackUrl: self.logoutUrl,
        identifierFormat: self.nameIdFormat,
        wantAssertionsSigned: self.wantAssertionsSigned,
        ...(privateKey === undefined ? {} : { publicCerts: certificate ?? null, decryptionCert: certificate ?? null }),
      });
    },
  };
  assertKeyPair(provider, await self.privateKey(), certificate);
  return self;
}

function parseOwnMetadata(provider: ProviderSettings, xml: string, acsUrl: string): string {
  const variable = provider.variableOf('SP_metadata');
  if (provider.value('SP_ENTITY_ID') !== undefined)
    throw new Error(`${variable} has an entityID: unset ${provider.variableOf('SP_ENTITY_ID')}`);
  const entity = parseUntrustedXml(xml.trim(), METADATA_LIMITS).documentElement;
  const role = childNamed(entity, NAMESPACES.metadata, 'SPSSODescriptor');
  const entityId = attributeOf(entity, 'entityID');
  if (!role || !entityId)
    throw new Error(`${variable} describes no service provider (SPSSODescriptor) with an entityID`);
  const addresses = childrenNamed(role, NAMESPACES.metadata, 'AssertionConsumerService');
  if (!addresses.some((address) => attributeOf(address, 'Location') === acsUrl))
    throw new Error(`${variable} has no AssertionConsumerService at ${acsUrl}`);
  return entityId;
}

function assertKeyPair(provider: ProviderSettings, key: string | undefined, certificate: string | undefined): void {
  const [keyVariable, variable] = [provider.variableOf('SP_PRIVATE_KEY'), provider.variableOf('SP_CERTIFICATE')];
  if (key === undefined && certificate === undefined) return;
  if (key === undefined || certificate === undefined)
    throw new Error(`set both ${keyVariable} and ${variable}, or neither`);
  const publicKey = readKey(keyVariable, () => createPublicKey(createPrivateKey(key)));
  const certified = readKey(variable, () => new X509Certificate(certificate));
  if (publicKey.asymmetricKeyType !== 'rsa') throw new Error(`${keyVariable} is no RSA key`);
  if (!certified.publicKey.equals(publicKey)) throw new Error(`${variable} is not the certificate of ${keyVariable}`);
}

function readKey<T>(variable: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new Error(`${variable} cannot be read as PEM`);
  }
}
