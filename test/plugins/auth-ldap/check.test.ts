import { expect } from 'chai';
import {
  dnOfPerson,
  LDAP_ADMIN,
  LDAP_GROUPS,
  LDAP_PEOPLE,
  startDirectory,
  type TestDirectory,
} from '../../support/ldap-server.ts';
import { SELF_SIGNED_CERTIFICATE } from '../../support/self-signed-certificate.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import {
  type CheckCase,
  type CheckReport,
  findingsOf,
  problemsOf,
  providerSettings,
  reportOf,
  runAuthCheck,
  testCheckFindings,
  textOf,
} from '../auth-providers/check-run.ts';
import { makeRole } from '../users/test-users.ts';
import { startFalseDirectory } from './ldap-fixture.ts';

const WRONG = 'a wrong password of the service';

describe('auth check, of directories', function () {
  this.timeout(240_000);
  let directory: TestDirectory;
  let hanging: Awaited<ReturnType<typeof startFalseDirectory>>;
  let service: InProcessService;
  let editor: string;
  let reader: string;
  before(async () => {
    directory = await startDirectory();
    await directory.addPerson('Ann', { employeeNumber: '7' });
    await directory.addPerson('Bob', { employeeNumber: '8', userAccountControl: '514' });
    await directory.addPerson('Cid', { employeeNumber: '9' });
    await directory.setGroup('editors', ['Ann']);
    hanging = await startFalseDirectory(() => {});
    service = await startService({ database: await createMigratedDatabase('ldap-check') });
    editor = await makeRole(service, { app_access: true, name: 'Editors' });
    reader = await makeRole(service, { name: 'Readers' });
  });
  after(async () => {
    await service?.stop();
    await service?.database.drop();
    await hanging?.stop();
    await directory?.stop();
  });

  const settingsOf = (name: string, more: Record<string, string> = {}) =>
    providerSettings(name, {
      DRIVER: 'ldap',
      CLIENT_URL: directory.url,
      BIND_DN: LDAP_ADMIN.dn,
      BIND_PASSWORD: LDAP_ADMIN.password,
      USER_DN: LDAP_PEOPLE,
      IDENTIFIER_ATTRIBUTE: 'employeeNumber',
      GROUP_DN: LDAP_GROUPS,
      ...more,
    });
  const check = async (
    settings: Readonly<Record<string, string>>,
    args: readonly string[] = [],
  ): Promise<CheckReport> => reportOf(await runAuthCheck(service.database, ['--json', ...args], settings));

  describe('in good and in broken states', () => {
    let report: CheckReport;
    before(async () => {
      const secure = { CLIENT_URL: directory.secureUrl };
      report = await check({
        ...settingsOf('good'),
        ...settingsOf('secure', { ...secure, CLIENT_CA: SELF_SIGNED_CERTIFICATE }),
        ...settingsOf('starttls', { CLIENT_STARTTLS: 'true', CLIENT_CA: SELF_SIGNED_CERTIFICATE }),
        ...settingsOf('untrusted', secure),
        ...settingsOf('clear', { CLIENT_URL: directory.url.replace('localhost', '127.0.0.2') }),
        ...settingsOf('away', { CLIENT_URL: 'ldap://localhost:1' }),
        ...settingsOf('hang', { CLIENT_URL: hanging.url, TIMEOUT: '1500ms' }),
        ...settingsOf('password', { BIND_PASSWORD: WRONG }),
        ...settingsOf('nameless', { BIND_PASSWORD: '' }),
        ...settingsOf('base', { USER_DN: `ou=missing,${LDAP_PEOPLE}` }),
        ...settingsOf('filter', { USER_FILTER: '(employeeType=none)' }),
        ...settingsOf('attribute', { USER_ATTRIBUTE: 'cn', IDENTIFIER_ATTRIBUTE: 'objectGUID' }),
        ...settingsOf('moving', { IDENTIFIER_ATTRIBUTE: '' }),
        ...settingsOf('groups', { GROUP_DN: `ou=nothing,${LDAP_GROUPS}` }),
        ...settingsOf('groupless', { GROUP_ATTRIBUTE: 'memberUid' }),
      });
    });

    it('finds everything in order where it is', () => {
      for (const name of ['good', 'secure', 'starttls'])
        expect(problemsOf(report, name), JSON.stringify(findingsOf(report, name))).to.deep.equal([]);
      expect(findingsOf(report, 'secure').map((one) => one.check)).to.deep.equal([
        ...['settings', 'registration', 'connection', 'certificate', 'bind', 'users', 'groups'],
      ]);
    });
    const cases: readonly CheckCase[] = [
      ['untrusted', 'fail connection', 'AUTH_UNTRUSTED_CLIENT_CA_FILE'],
      ['away', 'fail connection', 'check AUTH_AWAY_CLIENT_URL'],
      ['hang', 'fail provider', 'did not answer in time'],
      ['password', 'fail bind', 'check AUTH_PASSWORD_BIND_DN and AUTH_PASSWORD_BIND_PASSWORD'],
      ['nameless', 'fail bind', 'no password'],
      ['base', 'fail users', 'check AUTH_BASE_USER_DN'],
      ['filter', 'fail users', 'AUTH_FILTER_USER_FILTER'],
      ['attribute', 'fail attributes', 'check AUTH_ATTRIBUTE_IDENTIFIER_ATTRIBUTE'],
      ['moving', 'warn identifier', 'set AUTH_MOVING_IDENTIFIER_ATTRIBUTE'],
      ['groups', 'fail groups', 'check AUTH_GROUPS_GROUP_DN'],
      ['groupless', 'warn groups', 'AUTH_GROUPLESS_GROUP_ATTRIBUTE'],
    ];
    testCheckFindings(cases, () => report);
    it('warns of passwords in clear text', () => {
      expect(problemsOf(report, 'clear')).to.include('warn encryption');
    });
    it('prints no password', () => {
      expect(JSON.stringify(report)).not.to.contain(WRONG).and.not.to.contain(LDAP_ADMIN.password);
    });
  });

  describe('about one user', () => {
    const about = async (user: string, more: Record<string, string> = {}, args: readonly string[] = []) => {
      const mapping = JSON.stringify({ editors: editor, staff: reader });
      const settings = settingsOf('corp', { ROLE_MAPPING: mapping, ALLOW_PUBLIC_REGISTRATION: 'true', ...more });
      const report = await check(settings, ['corp', '--user', user, ...args]);
      return (one: string) => textOf(report, 'corp', one);
    };

    it('names account and role, and why', async () => {
      const says = await about('Ann');
      expect(says('user')).to.match(
        /^ok: the provider says: identifier 7; e-mail address ann@example.com; groups editors, /,
      );
      expect(says('account')).to.contain('ok: no account yet: the first sign-in registers the user');
      expect(says('role')).to.contain('ok: Editors: the first entry of ROLE_MAPPING that fits is "editors"');
    });
    it('finds the user by its e-mail address, too, and assumes other groups', async () => {
      const says = await about('cid@example.com', {}, ['--group', 'staff']);
      expect(says('user')).to.contain('identifier 9');
      expect(says('role')).to.contain('Readers: the first entry of ROLE_MAPPING that fits is "staff"');
    });
    it('names the account that there is, and what is wrong with it', async () => {
      const { body } = await service.request('POST', '/users', {
        token: service.admin.token,
        body: { email: 'ann@example.com', provider: 'corp', external_identifier: '7', role: reader },
      });
      const { id } = body.data;
      expect((await about('Ann'))('account')).to.contain(
        `ok: the user ${id} (ann@example.com), found by its identifier`,
      );
      expect((await about('Ann', { ROLE_MAPPING: '' }))('role')).to.contain('Readers: the one of the account');
      await service.request('PATCH', `/users/${id}`, { token: service.admin.token, body: { status: 'suspended' } });
      expect((await about('Ann'))('account')).to.contain('fail: USER_SUSPENDED');
      await service.request('PATCH', `/users/${id}`, { token: service.admin.token, body: { provider: 'other' } });
      expect((await about('Ann'))('account')).to.contain('fail: INVALID_PROVIDER: the address ann@example.com');
    });
    it('says who has no role, no account, or may not sign in', async () => {
      const alone = await about('Cid');
      expect(alone('role')).to.match(/^warn: none: DEFAULT_ROLE_ID, since no entry of ROLE_MAPPING names a group/);
      expect((await about('Cid', { ALLOW_PUBLIC_REGISTRATION: 'false' }))('account')).to.contain(
        'fail: INVALID_CREDENTIALS',
      );
      expect((await about('Bob'))('user')).to.contain('fail: USER_SUSPENDED: the account is disabled in the directory');
      expect((await about('Dan'))('user')).to.contain('fail: INVALID_CREDENTIALS: the directory knows no such user');
      expect((await about(dnOfPerson('Ann')))('user')).to.contain('fail: INVALID_CREDENTIALS');
    });
  });
});
