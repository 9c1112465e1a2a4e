import type { ProviderKey } from '../auth-providers/contract.ts';

const SCOPES = ['base', 'one', 'sub'] as const;

/** How far below its base a search looks. */
export type SearchScope = (typeof SCOPES)[number];

/** Keys of AUTH_<NAME>_* for the driver `ldap`, beside those of every provider. */
export const LDAP_PROVIDER_KEYS = {
  CLIENT_URL: { type: 'string', required: true, about: 'ldaps:// or ldap:// address of the directory' },
  CLIENT_STARTTLS: {
    type: 'boolean',
    default: false,
    about: 'encrypts a connection to ldap:// before anything is sent',
  },
  CLIENT_CA: { type: 'string', about: 'certificates in PEM that are trusted in place of the usual ones' },
  BIND_DN: { type: 'string', about: 'the entry that searches for users; anonymous where unset' },
  BIND_PASSWORD: { type: 'string', secret: true, about: 'password of BIND_DN' },
  USER_DN: { type: 'string', required: true, about: 'the entry below which users are' },
  USER_ATTRIBUTE: { type: 'string', default: 'cn', about: 'the attribute that users type as `identifier`' },
  USER_SCOPE: {
    type: 'string',
    default: 'one',
    enum: SCOPES,
    about: 'base, one level or the whole tree below USER_DN',
  },
  USER_FILTER: { type: 'string', about: 'what users must match besides, such as (objectClass=person)' },
  IDENTIFIER_ATTRIBUTE: {
    type: 'string',
    about: 'the attribute that never changes, such as entryUUID or objectGUID; the name (DN) of the entry where unset',
  },
  MAIL_ATTRIBUTE: { type: 'string', default: 'mail', about: 'the e-mail address, which users may type as `email`' },
  EMAIL_IS_VERIFIED: { type: 'boolean', default: false, about: 'users cannot change their address in the directory' },
  FIRST_NAME_ATTRIBUTE: { type: 'string', default: 'givenName', about: 'the first name' },
  LAST_NAME_ATTRIBUTE: { type: 'string', default: 'sn', about: 'the last name' },
  GROUP_DN: { type: 'string', about: 'the entry below which groups are; no groups where unset' },
  GROUP_ATTRIBUTE: { type: 'string', default: 'member', about: 'the attribute of a group that names its members' },
  GROUP_SCOPE: {
    type: 'string',
    default: 'one',
    enum: SCOPES,
    about: 'base, one level or the whole tree below GROUP_DN',
  },
} as const satisfies Record<string, ProviderKey>;

const TEXT = { type: 'string', minLength: 1, maxLength: 255 };

/** The body of `POST /auth/login/<provider>` without `mode` and `otp`. */
export const LDAP_CREDENTIALS_SCHEMA = {
  type: 'object',
  required: ['password'],
  properties: { identifier: TEXT, email: TEXT, password: { type: 'string', maxLength: 1024 } },
  oneOf: [{ required: ['identifier'] }, { required: ['email'] }],
  additionalProperties: false,
};
