import type { Element } from '@xmldom/xmldom';
import { attributeOf, childNamed, childrenNamed, isText, NAMESPACES, parseXml, textOf } from './xml.ts';

/** What an assertion has to say, to count for a sign-in. */
export interface AssertionExpectation {
  /** The entity id of the identity provider. */
  readonly issuer: string;
  /** The address that the assertion is posted to. */
  readonly recipient: string;
  /** The id of the request that this browser brought to the provider. */
  readonly requestId: string;
  /** Milliseconds that the clocks may differ. */
  readonly tolerance: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The name of a user at the provider, as a logout repeats it. */
export interface SamlName {
  readonly nameID: string;
  readonly nameIDFormat: string;
  readonly nameQualifier?: string | undefined;
  readonly spNameQualifier?: string | undefined;
  readonly sessionIndex?: string | undefined;
}

/** What is left of a proven assertion. */
export interface ProvenAssertion {
  readonly id: string;
  /** Milliseconds since 1970 until which it could be used again. */
  readonly expires: number;
  /** Undefined where the assertion has no NameID. */
  readonly name: SamlName | undefined;
  /** Texts by the name of the attribute. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
export const UNSPECIFIED_NAME = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';

/**
 * Reads an assertion whose signature is verified: `xml` is the very text that was signed. Issuer, recipient, request and times are
 * checked here, in that text, whatever the response around it says. The audience is checked by the library.
 * @throws Error with what is wrong
 */
export function readProvenAssertion(xml: string, expected: AssertionExpectation): ProvenAssertion {
  const assertion = parseXml(xml).documentElement;
  if (assertion.localName !== 'Assertion' || assertion.namespaceURI !== NAMESPACES.assertion)
    throw new Error('what is signed is no assertion');
  const child = (parent: Element, name: string) => childNamed(parent, NAMESPACES.assertion, name);
  const required = (parent: Element, name: string) => {
    const found = child(parent, name);
    if (!found) throw new Error(`the assertion has no ${name}`);
    return found;
  };
  const issuer = textOf(required(assertion, 'Issuer'));
  if (issuer !== expected.issuer) throw new Error(`the assertion is from ${issuer.slice(0, 200)}`);
  assertTimes(required(assertion, 'Conditions'), expected);
  const subject = required(assertion, 'Subject');
  const expires = readConfirmation(subject, expected);
  const statement = childrenNamed(assertion, NAMESPACES.assertion, 'AuthnStatement')[0];
  if (!statement) throw new Error('the assertion is about no sign-in');
  const until = timeOf(statement, 'SessionNotOnOrAfter');
  if (until !== undefined && expected.now - expected.tolerance >= until) throw new Error('the session is over');
  const id = attributeOf(assertion, 'ID');
  if (!id) throw new Error('the assertion has no ID');
  const nameId = child(subject, 'NameID');
  return {
    id,
    expires: expires + expected.tolerance,
    name: nameId && nameOf(nameId, attributeOf(statement, 'SessionIndex')),
    attributes: attributesOf(assertion),
  };
}

/** Milliseconds since 1970 at which the confirmation ends. @throws Error where no confirmation is for this request and this address */
function readConfirmation(subject: Element, expected: AssertionExpectation): number {
  const problems = ['the assertion has no confirmation by its bearer'];
  for (const confirmation of childrenNamed(subject, NAMESPACES.assertion, 'SubjectConfirmation')) {
    if (attributeOf(confirmation, 'Method') !== BEARER) continue;
    const data = childNamed(confirmation, NAMESPACES.assertion, 'SubjectConfirmationData');
    try {
      if (!data) throw new Error('the confirmation has no data');
      if (attributeOf(data, 'Recipient') !== expected.recipient)
        throw new Error('the assertion is for another recipient');
      if (attributeOf(data, 'InResponseTo') !== expected.requestId)
        throw new Error('the assertion answers another request');
      const end = timeOf(data, 'NotOnOrAfter');
      if (end === undefined) throw new Error('the confirmation has no end');
      assertTimes(data, expected);
      return end;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  throw new Error(problems.at(-1));
}

function assertTimes(element: Element, { now, tolerance }: AssertionExpectation): void {
  const [begin, end] = [timeOf(element, 'NotBefore'), timeOf(element, 'NotOnOrAfter')];
  if (begin !== undefined && now + tolerance < begin) throw new Error(`${element.localName} is not valid yet`);
  if (end !== undefined && now - tolerance >= end) throw new Error(`${element.localName} is expired`);
}

/** @throws Error for what is no time */
export function timeOf(element: Element, name: string): number | undefined {
  const text = attributeOf(element, name);
  if (text === undefined) return undefined;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new Error(`${name} is no time`);
  return time;
}

export const nameOf = (nameId: Element, sessionIndex: string | undefined): SamlName => ({
  nameID: textOf(nameId),
  nameIDFormat: attributeOf(nameId, 'Format') ?? UNSPECIFIED_NAME,
  nameQualifier: attributeOf(nameId, 'NameQualifier'),
  spNameQualifier: attributeOf(nameId, 'SPNameQualifier'),
  sessionIndex,
});

function attributesOf(assertion: Element): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const statement of childrenNamed(assertion, NAMESPACES.assertion, 'AttributeStatement')) {
    for (const attribute of childrenNamed(statement, NAMESPACES.assertion, 'Attribute')) {
      const name = attributeOf(attribute, 'Name');
      if (!name) continue;
      const values = childrenNamed(attribute, NAMESPACES.assertion, 'AttributeValue').filter(isText).map(textOf);
      found.set(name, [...(found.get(name) ?? []), ...values]);
    }
  }
  return found;
}
