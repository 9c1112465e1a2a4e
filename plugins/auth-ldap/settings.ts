import { FilterParser } from 'ldapts';
import type { ProviderSettings } from '../auth-providers/contract.ts';
import type { LDAP_PROVIDER_KEYS, SearchScope } from './keys.ts';

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
