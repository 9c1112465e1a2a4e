import { FilterParser } from 'ldapts';
import type { ProviderKey, ProviderSettings } from '../auth-providers/contract.ts';

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

/** A directory and how its users and groups are found. */
export interface LdapDirectory {
  /** The name of the provider, for messages. */
  readonly provider: string;
  readonly url: URL;
  readonly startTls: boolean;
  /** Nothing crosses the network in clear text. A directory on this machine counts as such. */
  readonly isEncrypted: boolean;
  readonly ca: string | undefined;
  readonly bindDn: string | undefined;
  readonly bindPassword: () => Promise<string | undefined>;
  readonly users: {
    readonly base: string;
    readonly scope: SearchScope;
    readonly filter: string | undefined;
    readonly identifier: string;
    readonly email: string;
    /** The attribute whose value is the external identifier; undefined for the name of the entry. */
    readonly externalIdentifier: string | undefined;
    readonly firstName: string;
    readonly lastName: string;
    readonly isEmailVerified: boolean;
  };
  readonly groups: { readonly base: string; readonly scope: SearchScope; readonly member: string } | undefined;
  /** The variable of a key, for messages. */
  readonly variableOf: (key: string) => string;
}

const ATTRIBUTE = /^[A-Za-z][A-Za-z0-9.;-]*$/;
const OWN_MACHINE: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** @throws Error with the variable to correct */
export function parseLdapDirectory(provider: ProviderSettings): LdapDirectory {
  const text = (key: keyof typeof LDAP_PROVIDER_KEYS) => provider.value<string | undefined>(key);
  const attribute = (key: keyof typeof LDAP_PROVIDER_KEYS) => {
    const name = text(key);
    if (name !== undefined && !ATTRIBUTE.test(name))
      throw new Error(`${provider.variableOf(key)} is not the name of an attribute`);
    return name as string;
  };
  const url = parseUrl(provider.variableOf('CLIENT_URL'), text('CLIENT_URL') as string);
  const startTls = provider.value<boolean>('CLIENT_STARTTLS');
  if (startTls && url.protocol === 'ldaps:')
    throw new Error(`${provider.variableOf('CLIENT_STARTTLS')} is for ldap:// only: ldaps:// is encrypted already`);
  assertFilter(provider.variableOf('USER_FILTER'), text('USER_FILTER'));
  const groupBase = text('GROUP_DN');
  return {
    provider: provider.name,
    variableOf: provider.variableOf,
    url,
    startTls,
    isEncrypted: startTls || url.protocol === 'ldaps:' || OWN_MACHINE.includes(url.hostname),
    ca: text('CLIENT_CA'),
    bindDn: text('BIND_DN'),
    bindPassword: () => provider.secret('BIND_PASSWORD'),
    users: {
      base: text('USER_DN') as string,
      scope: provider.value<SearchScope>('USER_SCOPE'),
      filter: text('USER_FILTER'),
      identifier: attribute('USER_ATTRIBUTE'),
      email: attribute('MAIL_ATTRIBUTE'),
      externalIdentifier: attribute('IDENTIFIER_ATTRIBUTE'),
      firstName: attribute('FIRST_NAME_ATTRIBUTE'),
      lastName: attribute('LAST_NAME_ATTRIBUTE'),
      isEmailVerified: provider.value<boolean>('EMAIL_IS_VERIFIED'),
    },
    groups:
      groupBase === undefined
        ? undefined
        : {
            base: groupBase,
            scope: provider.value<SearchScope>('GROUP_SCOPE'),
            member: attribute('GROUP_ATTRIBUTE'),
          },
  };
}

function parseUrl(variable: string, text: string): URL {
  const url = URL.parse(text);
  if (!url || !['ldap:', 'ldaps:'].includes(url.protocol) || url.username !== '' || url.search !== '')
    throw new Error(`${variable} is not an address such as ldaps://directory.example.com`);
  return url;
}

function assertFilter(variable: string, filter: string | undefined): void {
  if (filter === undefined) return;
  try {
    FilterParser.parseString(filter);
  } catch {
    throw new Error(`${variable} is not a filter such as (objectClass=person)`);
  }
}
