import {
  type AssertionText,
  BEARER,
  type ResponseText,
  renderAssertion,
  renderResponse,
  type SigningOptions,
  SUCCESS,
  signElement,
} from '../../support/saml-forge.ts';
import type { SamlIdentityProvider } from '../../support/saml-identity-provider.ts';

/** What a forger knows of a sign-in that is going on. */
export interface Forgery {
  /** The response of the sign-in that is going on, unsigned, with changes. */
  response(assertion?: Partial<AssertionText>, response?: Partial<ResponseText>, content?: string): string;
  /** The assertion of the sign-in that is going on, unsigned, with changes. */
  assertion(changes?: Partial<AssertionText>): string;
  /** A response around this content. */
  wrap(content: string, changes?: Partial<ResponseText>): string;
  readonly xml: string;
}

/** The XML that is posted in place of the honest response. */
export type Forge = (forgery: Forgery) => string;

export const signedResponse =
  (assertion: Partial<AssertionText>, response: Partial<ResponseText> = {}): Forge =>
  (f) =>
    signElement(f.response(assertion, response), 'Response');
export const signedAssertion =
  (options: SigningOptions, changes: Partial<AssertionText> = {}): Forge =>
  (f) =>
    f.wrap(signElement(f.assertion(changes), 'Assertion', options));
/** `name`: the user whom the identity provider signs in. */
export function createForgery(
  { idp, name }: { readonly idp: SamlIdentityProvider; readonly name: string },
  acs: string,
  xml: string,
  request: URL,
): Forgery {
  const requestId = /InResponseTo="([^"]+)"/.exec(xml)?.[1] as string;
  if (!request.searchParams.has('SAMLRequest')) throw new Error('the browser brings no request');
  const assertion = (changes: Partial<AssertionText> = {}) =>
    renderAssertion({
      id: `_assertion-${requestId}`,
      issuer: idp.entityId,
      name,
      audience: idp.spMetadataUrl,
      recipient: acs,
      inResponseTo: requestId,
      notBefore: -60,
      notOnOrAfter: 300,
      confirmedUntil: 300,
      sessionUntil: null,
      method: BEARER,
      attributes: {},
      extra: '',
      ...changes,
    });
  const wrap = (content: string, changes: Partial<ResponseText> = {}) =>
    renderResponse(
      { id: '_response', issuer: idp.entityId, destination: acs, inResponseTo: requestId, status: SUCCESS, ...changes },
      content,
    );
  return { xml, assertion, wrap, response: (one, changes, content = '') => wrap(assertion(one) + content, changes) };
}
