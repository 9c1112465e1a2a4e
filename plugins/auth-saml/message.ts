import type { Element } from '@xmldom/xmldom';
import {
  attributeOf,
  childNamed,
  childrenNamed,
  elementsIn,
  NAMESPACES,
  parseUntrustedXml,
  textOf,
  type XmlLimits,
} from './xml.ts';

/** What an identity provider may post. */
export type SamlMessageKind = 'Response' | 'LogoutRequest' | 'LogoutResponse';

/** A message whose form is checked. Nothing in it is proven: its signature is verified afterwards. */
export interface ScreenedMessage {
  /** As it was posted, without spaces. */
  readonly base64: string;
  readonly kind: SamlMessageKind;
  /** The root element. */
  readonly root: Element;
  readonly isRootSigned: boolean;
  /** The assertion is encrypted by a method that does not notice changes of the encrypted text (CBC). */
  readonly hasUnauthenticatedEncryption: boolean;
}

const MAX_BASE64 = 180_000;
/** Any client may send messages, and a tenth of a second is the most that one costs. A response with a thousand groups is smaller. */
const LIMITS: XmlLimits = { characters: 128_000, tags: 3000 };
/** With SHA-1 two texts with one digest can be made, and an HMAC would take the public key of a provider for its secret. */
const SIGNATURE_METHODS: readonly string[] = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
];
const DIGEST_METHODS: readonly string[] = [
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
];
const TRANSFORMS: readonly string[] = [
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
];
const KEY_ENCRYPTION = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';
const UNAUTHENTICATED_ENCRYPTION = /^http:\/\/www\.w3\.org\/2001\/04\/xmlenc#aes(128|256)-cbc$/;
const AUTHENTICATED_ENCRYPTION = /^http:\/\/www\.w3\.org\/2009\/xmlenc11#aes(128|256)-gcm$/;

/**
 * Checks the form of a message before anything of it is believed: one root, one assertion, each id once, and signatures only where SAML
 * puts them and by methods that are safe. Then a signature cannot prove one element while another one is read.
 * @throws Error with what is wrong
 */
export function screenMessage(posted: string, kind: SamlMessageKind): ScreenedMessage {
  const base64 = posted.length > MAX_BASE64 ? '' : posted.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new Error('the message is no base64 text, or too long');
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  const root = parseUntrustedXml(text, LIMITS).documentElement;
  if (root.localName !== kind || root.namespaceURI !== NAMESPACES.protocol)
    throw new Error(`the message is no ${kind} of SAML 2.0`);
  const elements = [...elementsIn(root)];
  assertUniqueIds(elements);
  assertOneAssertion(root, elements);
  const signatures = elements.filter(({ localName }) => localName === 'Signature');
  for (const signature of signatures) assertSafeSignature(signature, root);
  const isRootSigned = signatures.some(({ parentNode }) => parentNode === root);
  return { base64, kind, root, isRootSigned, hasUnauthenticatedEncryption: screenEncryption(elements) };
}

/** Parsers disagree about which attribute is the id. */
function assertUniqueIds(elements: readonly Element[]): void {
  const ids = elements.flatMap((element) =>
    Array.from(element.attributes).flatMap(({ localName, name, value }) =>
      /^id$/i.test(localName ?? name) ? [value] : [],
    ),
  );
  if (new Set(ids).size < ids.length) throw new Error('two elements have one id');
}

function assertOneAssertion(root: Element, elements: readonly Element[]): void {
  const assertions = elements.filter(
    ({ localName }) => localName === 'Assertion' || localName === 'EncryptedAssertion',
  );
  const isPlain = assertions.every(
    ({ parentNode, namespaceURI }) => parentNode === root && namespaceURI === NAMESPACES.assertion,
  );
  const most = root.localName === 'Response' ? 1 : 0;
  if (assertions.length > most || !isPlain) throw new Error('there are several assertions, or one at a wrong place');
  if (elements.slice(1).some(({ localName }) => localName === root.localName))
    throw new Error(`there is a second ${root.localName} in the message`);
}

function assertSafeSignature(signature: Element, root: Element): void {
  const parent = signature.parentNode as Element;
  const isInPlace = parent === root || (parent.parentNode === root && parent.localName === 'Assertion');
  if (!isInPlace || signature.namespaceURI !== NAMESPACES.signature)
    throw new Error('a signature is neither that of the message nor that of its assertion');
  const child = (of: Element, name: string) => {
    const found = childNamed(of, NAMESPACES.signature, name);
    if (!found) throw new Error(`a signature has no ${name}`);
    return found;
  };
  if (childrenNamed(parent, NAMESPACES.signature, 'Signature').length > 1 || has(signature, 'Object'))
    throw new Error('an element has two signatures, or a signature has content of its own');
  const info = child(signature, 'SignedInfo');
  const reference = child(info, 'Reference');
  if (attributeOf(reference, 'URI') !== `#${attributeOf(parent, 'ID')}`)
    throw new Error('a signature refers to another element than its own');
  assertMethod(child(info, 'SignatureMethod'), SIGNATURE_METHODS);
  assertMethod(child(info, 'CanonicalizationMethod'), TRANSFORMS.slice(1));
  assertMethod(child(reference, 'DigestMethod'), DIGEST_METHODS);
  for (const transform of childrenNamed(child(reference, 'Transforms'), NAMESPACES.signature, 'Transform'))
    assertMethod(transform, TRANSFORMS);
}

const has = (element: Element, name: string): boolean => childrenNamed(element, NAMESPACES.signature, name).length > 0;

function assertMethod(element: Element, allowed: readonly string[]): void {
  const method = attributeOf(element, 'Algorithm') ?? '';
  if (!allowed.includes(method)) throw new Error(`the method ${method.slice(0, 100)} of a signature is not accepted`);
}

/** Says whether the encryption notices changes. @throws Error for methods that are not accepted */
function screenEncryption(elements: readonly Element[]): boolean {
  let isUnauthenticated = false;
  for (const element of elements.filter(({ localName }) => localName === 'EncryptionMethod')) {
    const method = attributeOf(element, 'Algorithm') ?? '';
    const isOfKey = (element.parentNode as Element).localName === 'EncryptedKey';
    const isAccepted = isOfKey
      ? method === KEY_ENCRYPTION
      : UNAUTHENTICATED_ENCRYPTION.test(method) || AUTHENTICATED_ENCRYPTION.test(method);
    if (!isAccepted) throw new Error(`the encryption ${method.slice(0, 100)} is not accepted`);
    if (UNAUTHENTICATED_ENCRYPTION.test(method)) isUnauthenticated = true;
  }
  return isUnauthenticated;
}

/** @throws Error where a message is for another address, or from another provider than the expected one */
export function assertAddressedTo(root: Element, address: string, issuer: string): void {
  const destination = attributeOf(root, 'Destination');
  if (destination !== undefined && destination !== '' && destination !== address)
    throw new Error(`the message is for ${destination.slice(0, 200)}`);
  const from = childNamed(root, NAMESPACES.assertion, 'Issuer');
  if (from && textOf(from) !== issuer) throw new Error(`the message is from ${textOf(from).slice(0, 200)}`);
}

/** @throws Error with the status where it is not success */
export function assertSuccess(root: Element): void {
  const status = childNamed(root, NAMESPACES.protocol, 'Status');
  const code = status && childNamed(status, NAMESPACES.protocol, 'StatusCode');
  const value = code ? (attributeOf(code, 'Value') ?? '') : '';
  if (value !== 'urn:oasis:names:tc:SAML:2.0:status:Success')
    throw new Error(`the provider answers the status ${value.slice(0, 100)}`);
}
