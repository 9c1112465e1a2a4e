import type { ProviderKey } from './contract.ts';

/** Keys that every provider has. */
export const COMMON_PROVIDER_KEYS = {
  DRIVER: { type: 'string', about: 'the driver' },
  ICON: { type: 'string', default: 'account_circle', about: 'shown on sign-in pages' },
  LABEL: { type: 'string', about: 'the name for people, on sign-in pages' },
  ALLOW_PUBLIC_REGISTRATION: {
    type: 'boolean',
    default: false,
    about: 'unknown users are registered at their first sign-in',
  },
  DEFAULT_ROLE_ID: { type: 'string', about: 'the role of registered users' },
  SYNC_USER_INFO: { type: 'boolean', default: false, about: 'each sign-in takes over names and e-mail address' },
  REQUIRE_VERIFIED_EMAIL: { type: 'boolean', default: false, about: 'refuses users whose address is not verified' },
  ROLE_MAPPING: { type: 'json', about: 'an object of group → role, decided at each sign-in' },
  TRUST_SECOND_FACTOR: {
    type: 'boolean',
    default: false,
    about: 'the provider asks for a second factor itself: users with one here are not asked for a code',
  },
  TIMEOUT: {
    type: 'duration',
    default: 10_000,
    minimum: 100,
    about: 'how long requests to the provider may take in all',
  },
} as const satisfies Record<string, ProviderKey>;

/** Keys of providers that browsers are redirected to. */
export const REDIRECT_PROVIDER_KEYS = {
  REDIRECT_ALLOW_LIST: {
    type: 'array',
    default: [],
    about: 'addresses that a sign-in may end at, beside those of PUBLIC_URL',
  },
  MODE: {
    type: 'string',
    default: 'json',
    enum: ['json', 'cookie'],
    about: 'the mode of sign-ins without `redirect` and `mode`',
  },
  COOKIE_SECURE: {
    type: 'boolean',
    about: 'the cookie during a sign-in is sent by https only; as PUBLIC_URL says where unset',
  },
} as const satisfies Record<string, ProviderKey>;
