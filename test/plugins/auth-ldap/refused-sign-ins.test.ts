import { expect } from 'chai';
import { Attribute, Change } from 'ldapts';
import {
  dnOfPerson,
  LDAP_ADMIN,
  LDAP_PEOPLE,
  LDAP_SUFFIX,
  PERSON_PASSWORD,
  startDirectory,
  type TestDirectory,
} from '../../support/ldap-server.ts';
import { createRefusalTable } from '../../support/refusal-table.ts';
import { SELF_SIGNED_CERTIFICATE } from '../../support/self-signed-certificate.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { ldapSettings, refusalOf, startFalseDirectory } from './ldap-fixture.ts';

type Credentials = Readonly<Record<string, unknown>>;

const INVALID = '401 INVALID_CREDENTIALS';
const SUSPENDED = '401 USER_SUSPENDED';
const DOWN = '503 SERVICE_UNAVAILABLE';
/** 100-nanosecond intervals between 1601 and the year 2020: a time of Active Directory. */
const YEAR_2020 = '132223104000000000';
const NEVER = '9223372036854775807';

/** What is refused for the provider `corp`, whose directory is in order. */
const REFUSED: readonly (readonly [what: string, credentials: Credentials, refusal: string])[] = [
  ['a wrong password', { identifier: 'Ann', password: 'wrong' }, INVALID],
  ['an unknown user', { identifier: 'Unknown' }, INVALID],
  ['empty password bind', { identifier: 'Ann', password: '' }, INVALID],
  ['a password of spaces', { identifier: 'Ann', password: '   ' }, INVALID],
  ['no password', { identifier: 'Ann', password: undefined }, '400 INVALID_PAYLOAD'],
  ['LDAP filter characters: *', { identifier: '*' }, INVALID],
  ['LDAP filter characters: A*', { identifier: 'A*' }, INVALID],
  ['LDAP filter characters: Ann)(cn=*', { identifier: 'Ann)(cn=*' }, INVALID],
  ['LDAP filter characters: *)(objectClass=*', { identifier: '*)(objectClass=*' }, INVALID],
  ['LDAP filter characters: Ann)(|(cn=*', { identifier: 'Ann)(|(cn=*' }, INVALID],
  ['LDAP filter characters: an escape', { identifier: '\\41nn' }, INVALID],
  ['LDAP filter characters: an unfinished escape', { identifier: 'Ann\\' }, INVALID],
  ['LDAP filter characters in the e-mail address', { email: '*@example.com' }, INVALID],
  ['a NUL in the identifier', { identifier: 'Ann\0' }, '400 INVALID_PAYLOAD'],
  ['a NUL in the password', { identifier: 'Ann', password: `${PERSON_PASSWORD}\0` }, '400 INVALID_PAYLOAD'],
  ['comment-split DN: Ann,ou=people', { identifier: `Ann,${LDAP_PEOPLE}` }, INVALID],
  ['comment-split DN: Ann#comment', { identifier: 'Ann#comment' }, INVALID],
  ['comment-split DN: Ann<!---->', { identifier: 'Ann<!---->' }, INVALID],
  ['comment-split DN: an escaped comma', { identifier: 'Ann\\2Cou=admins' }, INVALID],
  ['comment-split DN: two values of one name', { identifier: 'Ann+sn=Example' }, INVALID],
  ['the whole DN in place of the name', { identifier: dnOfPerson('Ann') }, INVALID],
  ['the entry of the service itself', { identifier: 'admin', password: LDAP_ADMIN.password }, INVALID],
  ['a part of a name that an entry has', { identifier: 'Comma' }, INVALID],
  ['an entry outside of USER_DN', { identifier: 'Outside' }, INVALID],
  ['an entry that USER_FILTER leaves out', { identifier: 'External' }, INVALID],
  ['an entry without a password', { identifier: 'Open' }, INVALID],
  ['an identifier of 256 characters', { identifier: 'A'.repeat(256) }, '400 INVALID_PAYLOAD'],
  ['duplicates: an address of two entries', { email: 'twins@example.com' }, INVALID],
  ['duplicates: an address of three entries', { email: 'triplets@example.com' }, INVALID],
  ['a referral to another directory', { identifier: 'Referral' }, INVALID],
  ['a user whose address belongs to another provider', { identifier: 'Thief' }, '401 INVALID_PROVIDER'],
  ['an account that is disabled', { identifier: 'Disabled' }, SUSPENDED],
  ['an account that is locked, by userAccountControl', { identifier: 'Locked' }, SUSPENDED],
  ['an account that is locked, by the password policy', { identifier: 'PolicyLocked' }, INVALID],
  ['an account that is locked after wrong passwords', { identifier: 'Guessed' }, INVALID],
  ['an account that is expired', { identifier: 'Expired' }, SUSPENDED],
  ['an account whose password is expired', { identifier: 'OldPassword' }, SUSPENDED],
  ['a disabled account, with a wrong password', { identifier: 'Disabled', password: 'wrong' }, INVALID],
  ['both names of a user', { identifier: 'Ann', email: 'ann@example.com' }, '400 INVALID_PAYLOAD'],
];

describe('the driver ldap refuses', function () {
  this.timeout(240_000);
  const table = createRefusalTable();
  let directory: TestDirectory;
  let foreign: Awaited<ReturnType<typeof startFalseDirectory>>;
  let plain: Awaited<ReturnType<typeof startFalseDirectory>>;
  let service: InProcessService;
  /** Connections to the directory that the referral names. */
  let followed = 0;
  before(async () => {
    directory = await startDirectory();
    foreign = await startFalseDirectory(() => void followed++);
    plain = await startFalseDirectory((socket) =>
      socket.once('data', (request: Buffer) => {
        // The result protocolError to StartTLS.
        socket.write(Buffer.from([0x30, 12, 2, 1, request[4] as number, 0x78, 7, 10, 1, 2, 4, 0, 4, 0]));
      }),
    );
    await fillDirectory(directory, foreign.url);
    const secureUrl = { url: directory.secureUrl };
    service = await startService({
      env: {
        ...ldapSettings(directory, { AUTH_CORP_USER_FILTER: '(!(employeeType=external))' }),
        ...ldapSettings(directory, { AUTH_STRICT_REQUIRE_VERIFIED_EMAIL: 'true' }, 'STRICT'),
        ...ldapSettings(directory, { AUTH_CLOSED_ALLOW_PUBLIC_REGISTRATION: 'false' }, 'CLOSED'),
        ...ldapSettings(secureUrl, {}, 'TLS'),
        ...ldapSettings(
          { url: directory.secureUrl.replace('localhost', '127.0.0.1') },
          { AUTH_NAMED_CLIENT_CA: SELF_SIGNED_CERTIFICATE },
          'NAMED',
        ),
        ...ldapSettings(plain, { AUTH_STARTTLS_CLIENT_STARTTLS: 'true' }, 'STARTTLS'),
        ...ldapSettings(directory, { AUTH_WRONG_BIND_PASSWORD: 'wrong' }, 'WRONG'),
      },
    });
    for (let guess = 0; guess < 3; guess++) await send('corp', { identifier: 'Guessed', password: 'wrong' });
  });
  after(async () => {
    await service?.stop();
    await foreign?.stop();
    await plain?.stop();
    await directory?.stop();
    table.print();
  });

  const send = (provider: string, credentials: Credentials) =>
    service.request('POST', `/auth/login/${provider}`, { body: { password: PERSON_PASSWORD, ...credentials } });

  async function refuse(provider: string, what: string, credentials: Credentials): Promise<string> {
    const reply = await send(provider, credentials);
    const refusal = refusalOf(reply);
    table.add('ldap', what, refusal);
    expect(JSON.stringify(reply.body)).not.to.contain('access_token');
    return refusal;
  }
  const usersOf = async () =>
    (await service.database.query("select id from platform_users where provider <> 'default'")).length;

  for (const [what, credentials, refusal] of REFUSED) {
    it(what, async () => {
      const before = await usersOf();
      expect(await refuse('corp', what, credentials)).to.equal(refusal);
      expect(await usersOf(), 'users').to.equal(before);
    });
  }

  const SETTINGS: readonly (readonly [provider: string, what: string, refusal: string])[] = [
    ['strict', 'unverified e-mail address', INVALID],
    ['closed', 'an unknown user without registration', INVALID],
    ['tls', 'a certificate of an authority that is not trusted', DOWN],
    ['named', 'a certificate of another name', DOWN],
    ['starttls', 'StartTLS that the directory refuses', DOWN],
    ['wrong', 'a wrong password of the service', '503 INVALID_CONFIG'],
  ];
  for (const [provider, what, refusal] of SETTINGS) {
    it(what, async () => {
      expect(await refuse(provider, what, { identifier: 'Ann' })).to.equal(refusal);
    });
  }

  it('nothing of a user in order, and accounts that never expire', async () => {
    for (const identifier of ['Ann', 'Lasting', 'Comma, Jr.'])
      expect((await send('corp', { identifier })).status, identifier).to.equal(200);
  });
  it('to follow referrals', () => {
    expect(followed).to.equal(0);
  });
});

async function fillDirectory(directory: TestDirectory, foreign: string): Promise<void> {
  await directory.asAdmin((client) =>
    client.add(`cn=policy,${LDAP_SUFFIX}`, {
      objectClass: ['pwdPolicy', 'device'],
      cn: 'policy',
      pwdAttribute: 'userPassword',
      pwdLockout: 'TRUE',
      pwdMaxFailure: '3',
      pwdLockoutDuration: '3600',
    }),
  );
  const people: Readonly<Record<string, Record<string, string>>> = {
    Ann: {},
    'Comma, Jr.': {},
    Lasting: { accountExpires: NEVER, userAccountControl: '512' },
    External: { employeeType: 'external' },
    Thief: { mail: 'admin@example.com' },
    Disabled: { userAccountControl: '514' },
    Locked: { userAccountControl: '528' },
    OldPassword: { 'msDS-User-Account-Control-Computed': '8388608' },
    Expired: { accountExpires: YEAR_2020 },
    Guessed: {},
    PolicyLocked: {},
    Hal: { mail: 'twins@example.com' },
    Ida: { mail: 'twins@example.com' },
    Jon: { mail: 'triplets@example.com' },
    Kim: { mail: 'triplets@example.com' },
    Leo: { mail: 'triplets@example.com' },
  };
  for (const [name, values] of Object.entries(people)) await directory.addPerson(name, values);
  await directory.asAdmin(async (client) => {
    const person = { objectClass: ['inetOrgPerson'], sn: 'Example' };
    await client.add(`cn=Outside,${LDAP_SUFFIX}`, { ...person, cn: 'Outside', userPassword: PERSON_PASSWORD });
    await client.add(dnOfPerson('Open'), { ...person, cn: 'Open' });
    await client.modify(dnOfPerson('PolicyLocked'), [
      new Change({
        operation: 'add',
        modification: new Attribute({ type: 'pwdAccountLockedTime', values: ['000001010000Z'] }),
      }),
    ]);
    await client.add(dnOfPerson('Referral'), {
      objectClass: ['referral', 'extensibleObject'],
      cn: 'Referral',
      ref: `${foreign}/${dnOfPerson('Ann')}`,
    });
  });
}
