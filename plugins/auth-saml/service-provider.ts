import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { generateServiceProviderMetadata } from '@node-saml/node-saml';
import type { ProviderSettings } from '../auth-providers/contract.ts';
import { createProviderFailure } from '../auth-providers/library.ts';
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
  /**
   * The key that signs and decrypts, with its certificate, in PEM; undefined without one. Read anew for each message, since the files may
   * change. @throws INVALID_CONFIG where they do not belong together
   */
  keyPair(): Promise<SamlKeyPair | undefined>;
  /** The metadata as XML. */
  metadata(): Promise<string>;
}

export interface SamlKeyPair {
  readonly privateKey: string;
  readonly certificate: string;
}

/** @throws Error with the variable to correct */
export async function openServiceProvider(provider: ProviderSettings): Promise<ServiceProvider> {
  const acsUrl = provider.urlOf('acs');
  const written = provider.value('SP_metadata');
  const entityId = provider.value('SP_ENTITY_ID') ?? provider.urlOf('metadata');
  const self: ServiceProvider = {
    entityId: written === undefined ? entityId : parseOwnMetadata(provider, written, acsUrl),
    acsUrl,
    logoutUrl: provider.urlOf('logout'),
    nameIdFormat: provider.value('NAME_ID_FORMAT') ?? null,
    wantResponsesSigned: provider.value<boolean>('SP_WANT_RESPONSES_SIGNED'),
    wantAssertionsSigned: provider.value<boolean>('SP_WANT_ASSERTIONS_SIGNED'),
    keyPair: () => readKeyPair(provider),
    async metadata() {
      if (written !== undefined) return written;
      const keys = await self.keyPair();
      return generateServiceProviderMetadata({
        issuer: self.entityId,
        callbackUrl: acsUrl,
        logoutCallbackUrl: self.logoutUrl,
        identifierFormat: self.nameIdFormat,
        wantAssertionsSigned: self.wantAssertionsSigned,
        ...(keys && {
          privateKey: keys.privateKey,
          decryptionPvk: keys.privateKey,
          publicCerts: keys.certificate,
          decryptionCert: keys.certificate,
        }),
      });
    },
  };
  await self.keyPair();
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

async function readKeyPair(provider: ProviderSettings): Promise<SamlKeyPair | undefined> {
  const [privateKey, certificate] = [await provider.secret('SP_PRIVATE_KEY'), await provider.secret('SP_CERTIFICATE')];
  if (privateKey === undefined && certificate === undefined) return undefined;
  const [keyVariable, variable] = [provider.variableOf('SP_PRIVATE_KEY'), provider.variableOf('SP_CERTIFICATE')];
  const refuse = (reason: string) =>
    createProviderFailure('INVALID_CONFIG', `The sign-in provider ${provider.name} cannot be used.`, reason);
  if (privateKey === undefined || certificate === undefined)
    throw refuse(`set both ${keyVariable} and ${variable}, or neither`);
  const read = <T>(name: string, parse: () => T): T => {
    try {
      return parse();
    } catch {
      throw refuse(`${name} cannot be read as PEM`);
    }
  };
  const publicKey = read(keyVariable, () => createPublicKey(createPrivateKey(privateKey)));
  const certified = read(variable, () => new X509Certificate(certificate));
  if (publicKey.asymmetricKeyType !== 'rsa') throw refuse(`${keyVariable} is no RSA key`);
  if (!certified.publicKey.equals(publicKey)) throw refuse(`${variable} is not the certificate of ${keyVariable}`);
  return { privateKey, certificate };
}
