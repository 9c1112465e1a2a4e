import { fail } from '#kernel';
import type { ProviderKey, ProviderProfile, ProviderSettings } from './contract.ts';

/** Keys of drivers whose providers describe a user by named claims. A driver may set other defaults. */
export const CLAIM_KEYS = {
  IDENTIFIER_KEY: {
    type: 'string',
    about: 'the claim that identifies a user for good; the e-mail address where unset',
  },
  EMAIL_KEY: { type: 'string', default: 'email', about: 'the claim with the e-mail address' },
  FIRST_NAME_KEY: { type: 'string', default: 'given_name', about: 'the claim with the first name' },
  LAST_NAME_KEY: { type: 'string', default: 'family_name', about: 'the claim with the last name' },
  GROUP_CLAIM_NAME: { type: 'string', default: 'groups', about: 'the claim with the groups, for ROLE_MAPPING' },
} as const satisfies Record<string, ProviderKey>;

type Claims = Readonly<Record<string, unknown>>;

/**
 * The profile of a user by claims. A key may be a path (`profile.mail`).
 * @throws INVALID_CREDENTIALS without identifier, and where the identifier is an e-mail address that the provider says is not verified,
 * since a user who enters the address of another user there would be that user here
 */
export function profileOfClaims(provider: Pick<ProviderSettings, 'value'>, claims: Claims): ProviderProfile {
  const claim = (key: string) => claimAt(claims, provider.value(key));
  const email = textOf(claim('EMAIL_KEY'));
  const verified = claimAt(claims, verifiedKeyOf(provider.value<string>('EMAIL_KEY')));
  const emailVerified = verified === true || verified === 'true' ? true : verified === undefined ? undefined : false;
  const identifierKey = provider.value('IDENTIFIER_KEY');
  const isEmail = identifierKey === undefined || identifierKey === provider.value('EMAIL_KEY');
  if (isEmail && emailVerified === false)
    throw fail('INVALID_CREDENTIALS', 'the identifier is an e-mail address that the provider has not verified');
  const identifier = isEmail ? email?.toLowerCase() : textOf(claimAt(claims, identifierKey));
  if (identifier === undefined)
    throw fail('INVALID_CREDENTIALS', `the provider sends no ${identifierKey ?? provider.value('EMAIL_KEY')}`);
  return {
    identifier,
    email,
    emailVerified,
    firstName: textOf(claim('FIRST_NAME_KEY')),
    lastName: textOf(claim('LAST_NAME_KEY')),
    groups: listOf(claim('GROUP_CLAIM_NAME')),
    claims,
  };
}

/** `email_verified` speaks of the claim `email` beside it, and of no other address. */
const verifiedKeyOf = (emailKey: string): string | undefined =>
  /(?:^|\.)email$/.test(emailKey) ? `${emailKey}_verified` : undefined;

function claimAt(claims: Claims, path: string | undefined): unknown {
  if (path === undefined) return undefined;
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((at, name) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    return (at as Claims)[name];
  }, claims);
}

/** Numbers are identifiers of some providers. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : typeof value === 'string' && value !== '' ? value : undefined;

const listOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) => textOf(one) ?? []);
