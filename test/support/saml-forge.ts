import { createHmac } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { renderAttributes } from './saml-identity-provider.ts';
import { IDP_KEY } from './saml-keys.ts';

/** What an assertion of a test says; times are seconds from now. */
export interface AssertionText {
  readonly id: string;
  readonly issuer: string;
  readonly name: string;
  readonly audience: string | null;
  readonly recipient: string;
  readonly inResponseTo: string | null;
  readonly notBefore: number;
  readonly notOnOrAfter: number;
  /** The end of the confirmation; null leaves it out. */
  readonly confirmedUntil: number | null;
  readonly sessionUntil: number | null;
  readonly method: string;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  /** What stands before its end. */
  readonly extra: string;
}

/** What a response of a test says around its assertion. */
export interface ResponseText {
  readonly id: string;
  readonly issuer: string;
  readonly destination: string;
  readonly inResponseTo: string;
  readonly status: string;
}

export const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

const at = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

export function renderAssertion(text: AssertionText): string {
  const { id, issuer, name, audience, recipient, inResponseTo, notBefore, notOnOrAfter, method, extra } = text;
  const end = text.confirmedUntil === null ? '' : ` NotOnOrAfter="${at(text.confirmedUntil)}"`;
  const answers = inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`;
  const session = text.sessionUntil === null ? '' : ` SessionNotOnOrAfter="${at(text.sessionUntil)}"`;
  const restriction =
    audience === null
      ? ''
      : `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`;
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID>${name}</saml:NameID><saml:SubjectConfirmation Method="${method}"><saml:SubjectConfirmationData${end} Recipient="${recipient}"${answers}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(notBefore)}" NotOnOrAfter="${at(notOnOrAfter)}">${restriction}</saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="one"${session}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${renderAttributes(text.attributes)}${extra}</saml:Assertion>`;
}

export function renderResponse(
  { id, issuer, destination, inResponseTo, status }: ResponseText,
  content: string,
): string {
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${id}" Version="2.0" IssueInstant="${at(0)}" Destination="${destination}" InResponseTo="${inResponseTo}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${content}</samlp:Response>`;
}

/** How a test signs. */
export interface SigningOptions {
  readonly key?: string;
  /** A certificate that the signature brings with it. */
  readonly certificate?: string;
  readonly signature?: string;
  readonly digest?: string;
  readonly transforms?: readonly string[];
  /** Makes an HMAC with this secret in place of a signature. */
  readonly secret?: string;
  /** The signature refers to the whole document by an empty URI. */
  readonly emptyUri?: boolean;
}

/** Signs the element with this local name, which is the only one, as an enveloped signature behind its issuer. */
export function signElement(
  xml: string,
  element: string,
  {
    key = IDP_KEY,
    certificate,
    signature = RSA_SHA256,
    digest = SHA256,
    transforms,
    secret,
    emptyUri,
  }: SigningOptions = {},
): string {
  const signed = new SignedXml({
    privateKey: key,
    signatureAlgorithm: signature,
    canonicalizationAlgorithm: EXCLUSIVE,
    ...(certificate === undefined ? {} : { publicCert: certificate }),
  });
  if (secret !== undefined) signed.SignatureAlgorithms[signature] = hmacAlgorithm(signature, secret) as never;
  signed.addReference({
    xpath: `//*[local-name(.)='${element}']`,
    digestAlgorithm: digest,
    transforms: [...(transforms ?? ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', EXCLUSIVE])],
    ...(emptyUri ? { uri: '', isEmptyUri: true } : {}),
  });
  signed.computeSignature(xml, {
    prefix: 'ds',
    location: { reference: `//*[local-name(.)='${element}']/*[local-name(.)='Issuer']`, action: 'after' },
  });
  return signed.getSignedXml();
}

const hmacAlgorithm = (name: string, secret: string) =>
  class {
    getAlgorithmName = () => name;
    getSignature = (text: string) => createHmac('sha1', secret).update(text).digest('base64');
    verifySignature = () => false;
  };

const SIGNATURE = /<ds:Signature[ >].*?<\/ds:Signature>/s;
export const signatureIn = (xml: string): string => SIGNATURE.exec(xml)?.[0] as string;
export const withoutSignature = (xml: string): string => xml.replace(SIGNATURE, '');
/** Puts `content` in front of the end of the signature. */
export const signatureAround = (signature: string, content: string): string =>
  signature.replace('</ds:Signature>', `${content}</ds:Signature>`);
