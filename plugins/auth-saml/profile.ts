import { fail } from '#kernel';
import type { ProviderProfile, ProviderSettings } from '../auth-providers/contract.ts';
import type { ProvenAssertion } from './assertion.ts';

const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';

/** Names that identity providers usually give an attribute, the first that is there counts. */
const USUAL_NAMES = {
  EMAIL_KEY: ['email', 'mail', 'urn:oid:0.9.2342.19200300.100.1.3', `${CLAIMS}/emailaddress`],
  GIVEN_NAME_KEY: ['givenName', 'given_name', 'firstName', 'urn:oid:2.5.4.42', `${CLAIMS}/givenname`],
  FAMILY_NAME_KEY: ['sn', 'surname', 'family_name', 'lastName', 'urn:oid:2.5.4.4', `${CLAIMS}/surname`],
} as const;

/**
 * The profile of a user by a proven assertion.
 * @throws INVALID_CREDENTIALS without the attribute or name that identifies the user
 */
export function profileOfAssertion(
  provider: Pick<ProviderSettings, 'value'>,
  assertion: ProvenAssertion,
): ProviderProfile {
  const { name, attributes } = assertion;
  const first = (key: keyof typeof USUAL_NAMES) => {
    const configured = provider.value(key);
    const names = configured === undefined ? USUAL_NAMES[key] : [configured];
    return names.map((one) => attributes.get(one)?.[0]).find((value) => value);
  };
  const nameAsEmail = name?.nameIDFormat === EMAIL_FORMAT ? name.nameID : undefined;
  const email = first('EMAIL_KEY') ?? (provider.value('EMAIL_KEY') === undefined ? nameAsEmail : undefined);
  return {
    identifier: identifierOf(provider.value('IDENTIFIER_KEY'), assertion),
    email,
    emailVerified: provider.value<boolean>('EMAIL_IS_VERIFIED') ? true : undefined,
    firstName: first('GIVEN_NAME_KEY'),
    lastName: first('FAMILY_NAME_KEY'),
    groups: attributes.get(provider.value<string>('GROUP_CLAIM_NAME')) ?? [],
    claims: Object.fromEntries(attributes),
  };
}

function identifierOf(key: string | undefined, { name, attributes }: ProvenAssertion): string {
  if (key !== undefined) {
    const [value, second] = attributes.get(key) ?? [];
    if (!value || second !== undefined)
      throw fail('INVALID_CREDENTIALS', `the assertion has not one value of the attribute ${key}`);
    return value;
  }
  if (!name?.nameID) throw fail('INVALID_CREDENTIALS', 'the assertion has no NameID');
  if (name.nameIDFormat === TRANSIENT)
    throw fail(
      'INVALID_CREDENTIALS',
      'the NameID is another one at each sign-in: AUTH_<NAME>_IDENTIFIER_KEY is needed',
    );
  return name.nameID;
}
