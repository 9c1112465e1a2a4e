import { type Client, type Entry, type Filter, FilterParser, NoSuchObjectError, PresenceFilter } from 'ldapts';
import type { ProviderCall, ProviderFinding } from '../auth-providers/contract.ts';
import { attemptCheck, describeExpiry } from '../auth-providers/library.ts';
import { bindService } from './bind.ts';
import { type LdapConnection, useLdapConnection } from './connection.ts';
import { hasAttribute, TIME_LIMIT } from './search.ts';
import type { LdapDirectory } from './settings.ts';

/** Looks at a directory: the connection and its certificate, the bind of the service, the entries below which users and groups are. */
export async function* checkDirectory(
  directory: LdapDirectory,
  { signal }: ProviderCall,
): AsyncIterable<ProviderFinding> {
  const { url, variableOf, isEncrypted } = directory;
  if (!isEncrypted) {
    const remedy = `use ldaps:// or set ${variableOf('CLIENT_STARTTLS')}`;
    yield { check: 'encryption', status: 'warn', text: 'passwords are sent in clear text', remedy };
  }
  const findings: ProviderFinding[] = [];
  let isConnected = false;
  const attempt = await attemptCheck('connection', connectionRemedy(directory), () =>
    useLdapConnection(directory, signal, async (client, connection) => {
      // Every directory describes itself without a bind.
      const root = await client.search('', { scope: 'base', attributes: ['*'], timeLimit: TIME_LIMIT });
      isConnected = true;
      findings.push({ check: 'connection', status: 'ok', text: `${url.host} answers` });
      findings.push(...describeCertificate(directory, connection), ...describeClock(root.searchEntries[0]));
      findings.push(...(await checkBound(client, directory)));
    }),
  );
  yield* findings;
  if (attempt.failure && !isConnected) yield attempt.failure;
  else if (attempt.failure) yield { ...attempt.failure, check: 'directory', remedy: 'see the log of the directory' };
}

const connectionRemedy = ({ url, variableOf, startTls }: LdapDirectory): string => {
  const isSecure = startTls || url.protocol === 'ldaps:';
  const trust = `; where the certificate is not trusted, name its authority in ${variableOf('CLIENT_CA_FILE')}`;
  return `see whether ${url.host} can be reached from this machine, and check ${variableOf('CLIENT_URL')}${isSecure ? trust : ''}`;
};

function describeCertificate(
  { variableOf }: LdapDirectory,
  { certificateEnd }: LdapConnection,
): readonly ProviderFinding[] {
  const until = certificateEnd();
  const remedy = `have the directory get a new one; ${variableOf('CLIENT_CA')} has to trust it`;
  return until ? [describeExpiry('certificate', 'that of the directory', { until, remedy })] : [];
}

/** Active Directory says what time it is. */
function describeClock(root: Entry | undefined): readonly ProviderFinding[] {
  const text = String(root?.currentTime ?? '');
  const time = Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d).*$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(time)) return [];
  const skew = Math.round(Math.abs(time - Date.now()) / 1000);
  if (skew <= 60) return [{ check: 'clock', status: 'ok', text: `the clocks differ by ${skew} s` }];
  const remedy = 'correct the clock that is wrong: certificates and the expiry of accounts depend on it';
  return [{ check: 'clock', status: 'warn', text: `the clocks differ by ${skew} s`, remedy }];
}

async function checkBound(client: Client, directory: LdapDirectory): Promise<readonly ProviderFinding[]> {
  const { bindDn, variableOf } = directory;
  const remedy = `check ${variableOf('BIND_DN')} and ${variableOf('BIND_PASSWORD')}`;
  const bind = await attemptCheck('bind', remedy, () => bindService(client, directory));
  if (bind.failure) return [bind.failure];
  const bound: ProviderFinding =
    bindDn === undefined
      ? { check: 'bind', status: 'ok', text: `none: searches are anonymous, since ${variableOf('BIND_DN')} is not set` }
      : { check: 'bind', status: 'ok', text: `the directory accepts ${bindDn}` };
  return [bound, ...(await checkUsers(client, directory)), ...(await checkGroups(client, directory))];
}

async function checkUsers(client: Client, { users, variableOf }: LdapDirectory): Promise<readonly ProviderFinding[]> {
  const filter = users.filter
    ? FilterParser.parseString(users.filter)
    : new PresenceFilter({ attribute: users.identifier });
  const externalIdentifier = users.externalIdentifier === undefined ? [] : [users.externalIdentifier];
  const remedy = `check ${variableOf('USER_DN')}, and what the entry of the service may read`;
  const attempt = await attemptCheck('users', remedy, () =>
    searchBelow(client, users, filter, [users.identifier, users.email, ...externalIdentifier]),
  );
  if (!attempt.value) return [attempt.failure as ProviderFinding];
  const [entry] = attempt.value;
  if (!entry) {
    const settings = ['USER_SCOPE', 'USER_FILTER', 'USER_ATTRIBUTE'].map(variableOf).join(', ');
    const text = `no entry below ${users.base} is a user`;
    return [
      { check: 'users', status: 'fail', text, remedy: `check ${settings}, and what the entry of the service may read` },
    ];
  }
  const findings: ProviderFinding[] = [{ check: 'users', status: 'ok', text: `there are some below ${users.base}` }];
  for (const [key, attribute, status] of [
    ['USER_ATTRIBUTE', users.identifier, 'fail'],
    ['IDENTIFIER_ATTRIBUTE', users.externalIdentifier, 'fail'],
    ['MAIL_ATTRIBUTE', users.email, 'warn'],
  ] as const) {
    if (attribute === undefined || hasAttribute(entry, attribute)) continue;
    const text = `the entry ${entry.dn} has no attribute ${attribute} that the service can read`;
    findings.push({ check: 'attributes', status, text, remedy: `check ${variableOf(key)}` });
  }
  if (users.externalIdentifier === undefined) {
    const text = 'users are identified by the name of their entry: a user whose entry is moved is another one here';
    findings.push({ check: 'identifier', status: 'warn', text, remedy: `set ${variableOf('IDENTIFIER_ATTRIBUTE')}` });
  }
  return findings;
}

async function checkGroups(client: Client, { groups, variableOf }: LdapDirectory): Promise<readonly ProviderFinding[]> {
  if (!groups) return [];
  const remedy = `check ${variableOf('GROUP_DN')}, and what the entry of the service may read`;
  const filter = new PresenceFilter({ attribute: groups.member });
  const attempt = await attemptCheck('groups', remedy, () => searchBelow(client, groups, filter, ['cn']));
  if (!attempt.value) return [attempt.failure as ProviderFinding];
  if (attempt.value.length > 0) return [{ check: 'groups', status: 'ok', text: `there are some below ${groups.base}` }];
  const text = `no entry below ${groups.base} has the attribute ${groups.member}`;
  const settings = `${variableOf('GROUP_SCOPE')} and ${variableOf('GROUP_ATTRIBUTE')}`;
  return [{ check: 'groups', status: 'warn', text, remedy: `check ${settings}` }];
}

type Base = LdapDirectory['users'] | NonNullable<LdapDirectory['groups']>;

/** One entry of a kind, where there is one. @throws Error where the base does not exist */
async function searchBelow(client: Client, { base, scope }: Base, filter: Filter, attributes: string[]) {
  try {
    const options = { scope, filter, attributes, sizeLimit: 1, timeLimit: TIME_LIMIT };
    return (await client.search(base, options)).searchEntries;
  } catch (error) {
    if (error instanceof NoSuchObjectError) throw new Error(`the directory has no entry ${base}, or hides it`);
    throw error;
  }
}
