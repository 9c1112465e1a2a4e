import { X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import {
  attributeOf,
  childNamed,
  childrenNamed,
  elementsIn,
  METADATA_LIMITS,
  NAMESPACES,
  parseUntrustedXml,
  textOf,
} from './xml.ts';

/** An identity provider, as its metadata describe it. */
export interface IdentityProvider {
  readonly entityId: string;
  /** Where a browser begins a sign-in, with the request in the address. */
  readonly signInUrl: string;
  /** Where a browser ends the session at the provider; undefined where the provider has no logout. */
  readonly logoutUrl: string | undefined;
  /** Where the browser brings the answer to a logout that the provider began. */
  readonly logoutResponseUrl: string | undefined;
  /** Certificates whose keys may sign, in base64. */
  readonly certificates: readonly string[];
  /** Milliseconds since 1970 after which the metadata must not be used. */
  readonly validUntil: number | undefined;
}

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/** @throws Error with what is missing or wrong */
export function parseIdentityProvider(xml: string): IdentityProvider {
  const root = parseUntrustedXml(xml.trim(), METADATA_LIMITS).documentElement;
  const entity = findEntity(root);
  const role = childNamed(entity, NAMESPACES.metadata, 'IDPSSODescriptor') as Element;
  const entityId = attributeOf(entity, 'entityID');
  if (!entityId) throw new Error('the metadata have no entityID');
  const signIn = endpointOf(role, 'SingleSignOnService');
  if (!signIn) throw new Error('the metadata have no SingleSignOnService with the binding HTTP-Redirect');
  const logout = endpointOf(role, 'SingleLogoutService');
  const until = attributeOf(entity, 'validUntil') ?? attributeOf(root, 'validUntil');
  return {
    entityId,
    signInUrl: signIn.location,
    logoutUrl: logout?.location,
    logoutResponseUrl: logout?.response,
    certificates: certificatesOf(role),
    validUntil: until === undefined ? undefined : Date.parse(until),
  };
}

function findEntity(root: Element): Element {
  const entities = [...elementsIn(root)].filter(
    (element) =>
      element.namespaceURI === NAMESPACES.metadata &&
      element.localName === 'EntityDescriptor' &&
      childrenNamed(element, NAMESPACES.metadata, 'IDPSSODescriptor').length > 0,
  );
  const [entity, second] = entities;
  if (!entity) throw new Error('the metadata describe no identity provider (IDPSSODescriptor)');
  if (second) throw new Error('the metadata describe several identity providers');
  return entity;
}

function endpointOf(role: Element, name: string): { readonly location: string; readonly response: string } | undefined {
  const endpoint = childrenNamed(role, NAMESPACES.metadata, name).find(
    (element) => attributeOf(element, 'Binding') === REDIRECT,
  );
  if (!endpoint) return undefined;
  const location = attributeOf(endpoint, 'Location') ?? '';
  const response = attributeOf(endpoint, 'ResponseLocation') ?? location;
  for (const url of [location, response])
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw new Error(`the address of ${name} is none of http or https`);
  return { location, response };
}

function certificatesOf(role: Element): readonly string[] {
  const keys = childrenNamed(role, NAMESPACES.metadata, 'KeyDescriptor').filter(
    (key) => (attributeOf(key, 'use') ?? 'signing') === 'signing',
  );
  const certificates = keys.flatMap((key) =>
    [...elementsIn(key)]
      .filter(({ localName, namespaceURI }) => localName === 'X509Certificate' && namespaceURI === NAMESPACES.signature)
      .map((element) => textOf(element).replace(/\s+/g, '')),
  );
  if (certificates.length === 0) throw new Error('the metadata have no certificate that signs');
  for (const certificate of certificates) assertCertificate(certificate);
  return certificates;
}

function assertCertificate(base64: string): void {
  try {
    new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    throw new Error('the metadata have a certificate that cannot be read');
  }
}
