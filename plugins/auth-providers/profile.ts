import { fail } from '#kernel';
import type { ProviderProfile } from './contract.ts';

/** Characters that the columns of a user take. */
const MAX_NAME = 50;
const MAX_EMAIL = 128;
const MAX_IDENTIFIER = 255;
const ADDRESS = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/** A profile whose texts fit the columns of a user. The driver of a third-party package may answer anything. */
export interface CheckedProfile {
  readonly identifier: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean | undefined;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/** @throws INVALID_CREDENTIALS without an identifier, and where `requireVerifiedEmail` and the address is missing or not verified */
export function checkProfile(profile: ProviderProfile, requireVerifiedEmail: boolean): CheckedProfile {
  const { identifier, groups, claims } = profile;
  if (
    typeof identifier !== 'string' ||
    identifier === '' ||
    identifier.length > MAX_IDENTIFIER ||
    identifier.includes('\0')
  )
    throw fail('INVALID_CREDENTIALS', 'the provider names no identifier of 1 to 255 characters');
  const email = textOf(profile.email);
  const emailVerified = typeof profile.emailVerified === 'boolean' ? profile.emailVerified : undefined;
  if (requireVerifiedEmail && (email === undefined || emailVerified !== true))
    throw fail('INVALID_CREDENTIALS', 'the provider has not verified the e-mail address of the user');
  return {
    identifier,
    email: email !== undefined && email.length <= MAX_EMAIL && ADDRESS.test(email) ? email : undefined,
    emailVerified,
    firstName: cut(textOf(profile.firstName)),
    lastName: cut(textOf(profile.lastName)),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
    claims: claims ?? {},
  };
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' && !value.includes('\0') ? value.trim() : undefined;

const cut = (text: string | undefined): string | undefined => text && [...text].slice(0, MAX_NAME).join('');
