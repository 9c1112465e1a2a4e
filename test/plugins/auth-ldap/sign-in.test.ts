import { expect } from 'chai';
import { Client } from 'ldapts';
import {
  dnOfPerson,
  LDAP_PEOPLE,
  PERSON_PASSWORD,
  startDirectory,
  type TestDirectory,
} from '../../support/ldap-server.ts';
import { SELF_SIGNED_CERTIFICATE } from '../../support/self-signed-certificate.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { makeRole } from '../users/test-users.ts';
import { ldapSettings, refusalOf, signInByLdap } from './ldap-fixture.ts';

interface UserRow {
  readonly id: string;
  readonly provider: string;
  readonly external_identifier: string;
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly role: string | null;
}

describe('sign-in by the driver ldap and OpenLDAP', () => {
  let directory: TestDirectory;
  let service: InProcessService;
  let editor: string;
  let reader: string;

  const usersByName = (name: string) =>
    service.database.query<UserRow>(
      'select id, provider, external_identifier, email, first_name, last_name, role from platform_users where external_identifier = $1',
      [dnOfPerson(name)],
    );

  before(async function () {
    this.timeout(180_000);
    directory = await startDirectory();
    const database = await createMigratedDatabase('ldap');
    // The roles exist before the service with their keys in its settings starts.
    const first = await startService({ database });
    editor = await makeRole(first, { app_access: true });
    reader = await makeRole(first, {});
    await first.stop();
    service = await startService({
      database,
      env: ldapSettings(directory, {
        AUTH_CORP_LABEL: 'Example Corp.',
        AUTH_CORP_DEFAULT_ROLE_ID: reader,
        AUTH_CORP_ROLE_MAPPING: JSON.stringify({ editors: editor }),
      }),
    });
  });
  after(async () => {
    await service?.stop();
    await service?.database.drop();
    await directory?.stop();
  });

  it('lists the provider with its label in GET /auth', async () => {
    const { body } = await service.request('GET', '/auth');
    expect(body.data).to.deep.equal([{ name: 'corp', driver: 'ldap', icon: 'account_circle', label: 'Example Corp.' }]);
  });

  it('registers a user at the first sign-in and finds the same one at the second', async () => {
    await directory.addPerson('Ann', { sn: 'Archer' });
    const first = await signInByLdap(service, { identifier: 'Ann' });
    expect(first.status, JSON.stringify(first.body)).to.equal(200);
    const [user, ...others] = await usersByName('Ann');
    expect(others).to.deep.equal([]);
    expect(user).to.include({
      provider: 'corp',
      email: 'ann@example.com',
      first_name: 'Ann',
      last_name: 'Archer',
      role: reader,
    });
    expect((await signInByLdap(service, { identifier: 'Ann' })).status).to.equal(200);
    expect((await usersByName('Ann')).map(({ id }) => id)).to.deep.equal([user?.id]);
    const me = await service.request('GET', '/users/me?fields=id', { token: first.body.data.access_token });
    expect(me.body.data).to.deep.equal({ id: user?.id });
  });

  it('takes the e-mail address in place of the identifier', async () => {
    await directory.addPerson('Ben');
    expect((await signInByLdap(service, { email: 'ben@example.com' })).status).to.equal(200);
    expect(await usersByName('Ben')).to.have.lengthOf(1);
  });

  it('moves the role with the groups of the directory', async () => {
    await directory.addPerson('Cid');
    await directory.setGroup('editors', ['Cid']);
    await signInByLdap(service, { identifier: 'Cid' });
    expect((await usersByName('Cid'))[0]?.role).to.equal(editor);
    await directory.setGroup('editors', []);
    await signInByLdap(service, { identifier: 'Cid' });
    expect((await usersByName('Cid'))[0]?.role).to.equal(reader);
  });

  it('answers the refresh token by cookie in mode cookie, and signs out', async () => {
    await directory.addPerson('Dan');
    const reply = await signInByLdap(service, { identifier: 'Dan', mode: 'cookie' });
    expect(reply.body.data).to.have.all.keys('access_token', 'expires');
    const cookie = /service_refresh_token=[^;]+/.exec(String(reply.headers.get('set-cookie')))?.[0] as string;
    const logout = await service.request('POST', '/auth/logout', { headers: { cookie } });
    expect(logout.status).to.equal(204);
    expect(refusalOf(await service.request('POST', '/auth/refresh', { headers: { cookie } }))).to.equal(
      '401 INVALID_CREDENTIALS',
    );
  });

  it('refreshes and ends a session of mode json', async () => {
    await directory.addPerson('Eva');
    const { body } = await signInByLdap(service, { identifier: 'Eva', mode: 'json' });
    const refreshed = await service.request('POST', '/auth/refresh', {
      body: { refresh_token: body.data.refresh_token },
    });
    expect(refreshed.status).to.equal(200);
    const { refresh_token } = refreshed.body.data;
    expect((await service.request('POST', '/auth/logout', { body: { refresh_token } })).status).to.equal(204);
    expect(refusalOf(await service.request('POST', '/auth/refresh', { body: { refresh_token } }))).to.equal(
      '401 INVALID_CREDENTIALS',
    );
  });

  it('makes one user of simultaneous first sign-ins', async () => {
    await directory.addPerson('Fay');
    const replies = await Promise.all(Array.from({ length: 6 }, () => signInByLdap(service, { identifier: 'Fay' })));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
    expect(await usersByName('Fay')).to.have.lengthOf(1);
  });

  describe('refuses', () => {
    before(() => directory.addPerson('Gus'));

    it('an empty password, with which the directory itself accepts a bind', async () => {
      const client = new Client({ url: directory.url });
      await client.bind(dnOfPerson('Gus'), '');
      await client.unbind();
      expect(refusalOf(await signInByLdap(service, { identifier: 'Gus', password: '' }))).to.equal(
        '401 INVALID_CREDENTIALS',
      );
    });

    it('a wrong password and an unknown identifier alike', async () => {
      const wrong = await signInByLdap(service, { identifier: 'Gus', password: 'wrong' });
      const unknown = await signInByLdap(service, { identifier: 'Unknown' });
      expect([wrong.status, wrong.body]).to.deep.equal([unknown.status, unknown.body]);
      expect(refusalOf(wrong)).to.equal('401 INVALID_CREDENTIALS');
    });

    for (const identifier of ['*', 'G*', 'Gus)(cn=*', '*)(objectClass=*', 'Gus\\', '\\2a', '\\00'])
      it(`the characters of filters in the identifier ${JSON.stringify(identifier)}`, async () => {
        expect(refusalOf(await signInByLdap(service, { identifier }))).to.equal('401 INVALID_CREDENTIALS');
      });

    it('a NUL in the identifier', async () => {
      expect(refusalOf(await signInByLdap(service, { identifier: 'Gus\0' }))).to.equal('400 INVALID_PAYLOAD');
    });

    it('characters of filters in the e-mail address', async () => {
      expect(refusalOf(await signInByLdap(service, { email: '*@example.com' }))).to.equal('401 INVALID_CREDENTIALS');
    });

    it('an address that two entries have', async () => {
      await directory.addPerson('Hal', { mail: 'twins@example.com' });
      await directory.addPerson('Ida', { mail: 'twins@example.com' });
      expect(refusalOf(await signInByLdap(service, { email: 'twins@example.com' }))).to.equal(
        '401 INVALID_CREDENTIALS',
      );
    });

    it('an account that is disabled in the directory', async () => {
      await directory.addPerson('Jon', { userAccountControl: '514' });
      expect(refusalOf(await signInByLdap(service, { identifier: 'Jon' }))).to.equal('401 USER_SUSPENDED');
      expect(await usersByName('Jon')).to.deep.equal([]);
    });

    it('does not say without the password that an account is disabled', async () => {
      await directory.addPerson('Kim', { userAccountControl: '514' });
      expect(refusalOf(await signInByLdap(service, { identifier: 'Kim', password: 'wrong' }))).to.equal(
        '401 INVALID_CREDENTIALS',
      );
    });

    it('a user whose e-mail address belongs to a user of another provider', async () => {
      await directory.addPerson('Leo', { mail: service.admin.email });
      expect(refusalOf(await signInByLdap(service, { identifier: 'Leo' }))).to.equal('401 INVALID_PROVIDER');
      expect(await usersByName('Leo')).to.deep.equal([]);
    });

    it('a user who was suspended here', async () => {
      await directory.addPerson('Mia');
      await signInByLdap(service, { identifier: 'Mia' });
      await service.database.query("update platform_users set status = 'suspended' where external_identifier = $1", [
        dnOfPerson('Mia'),
      ]);
      expect(refusalOf(await signInByLdap(service, { identifier: 'Mia' }))).to.equal('401 USER_SUSPENDED');
    });

    it('bodies without an identifier, with both names of a user, or with other members', async () => {
      const bodies = [
        {},
        { identifier: 'Gus', email: 'gus@example.com' },
        { identifier: 'Gus', dn: 'x' },
        { identifier: '' },
      ];
      for (const body of bodies)
        expect(refusalOf(await signInByLdap(service, body)), JSON.stringify(body)).to.equal('400 INVALID_PAYLOAD');
    });

    it('the password of the directory at the local sign-in', async () => {
      const local = await service.request('POST', '/auth/login', {
        body: { email: 'ann@example.com', password: PERSON_PASSWORD },
      });
      expect(refusalOf(local)).to.equal('401 INVALID_PROVIDER');
    });
  });

  describe('with other settings', () => {
    let other: InProcessService | undefined;
    const startWith = async (settings: Record<string, string>) => {
      const env = ldapSettings({ url: settings.AUTH_CORP_CLIENT_URL ?? directory.url }, settings);
      other = await startService({ env });
      return other;
    };
    afterEach(async () => {
      await other?.stop();
      other = undefined;
    });

    it('does not register unknown users without ALLOW_PUBLIC_REGISTRATION', async () => {
      await directory.addPerson('Ned');
      await startWith({ AUTH_CORP_ALLOW_PUBLIC_REGISTRATION: 'false' });
      expect(refusalOf(await signInByLdap(other as InProcessService, { identifier: 'Ned' }))).to.equal(
        '401 INVALID_CREDENTIALS',
      );
    });

    it('signs in by StartTLS with CLIENT_CA, and not without it', async () => {
      await directory.addPerson('Oda');
      await startWith({ AUTH_CORP_CLIENT_STARTTLS: 'true', AUTH_CORP_CLIENT_CA: SELF_SIGNED_CERTIFICATE });
      const reply = await signInByLdap(other as InProcessService, { identifier: 'Oda' });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      await other?.stop();
      await startWith({ AUTH_CORP_CLIENT_STARTTLS: 'true' });
      expect(refusalOf(await signInByLdap(other as InProcessService, { identifier: 'Oda' }))).to.equal(
        '503 SERVICE_UNAVAILABLE',
      );
    });

    it('signs in by ldaps:// with CLIENT_CA, and not without it', async () => {
      await directory.addPerson('Pia');
      const secure = { AUTH_CORP_CLIENT_URL: directory.secureUrl };
      await startWith({ ...secure, AUTH_CORP_CLIENT_CA: SELF_SIGNED_CERTIFICATE });
      const reply = await signInByLdap(other as InProcessService, { identifier: 'Pia' });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      await other?.stop();
      await startWith(secure);
      expect(refusalOf(await signInByLdap(other as InProcessService, { identifier: 'Pia' }))).to.equal(
        '503 SERVICE_UNAVAILABLE',
      );
    });

    it('finds users by USER_ATTRIBUTE, USER_SCOPE and USER_FILTER, and keeps IDENTIFIER_ATTRIBUTE', async () => {
      await directory.addPerson('Quin', { uid: 'q1', employeeNumber: '7' });
      await directory.addPerson('Ron', { uid: 'r1', employeeNumber: '8', employeeType: 'external' });
      await startWith({
        AUTH_CORP_USER_DN: LDAP_PEOPLE.replace(/^[^,]+,/, ''),
        AUTH_CORP_USER_SCOPE: 'sub',
        AUTH_CORP_USER_ATTRIBUTE: 'uid',
        AUTH_CORP_USER_FILTER: '(!(employeeType=external))',
        AUTH_CORP_IDENTIFIER_ATTRIBUTE: 'employeenumber',
      });
      expect((await signInByLdap(other as InProcessService, { identifier: 'q1' })).status).to.equal(200);
      expect(refusalOf(await signInByLdap(other as InProcessService, { identifier: 'r1' }))).to.equal(
        '401 INVALID_CREDENTIALS',
      );
      const found = await other?.database.query(
        "select external_identifier from platform_users where provider = 'corp'",
      );
      expect(found).to.deep.equal([{ external_identifier: '7' }]);
    });

    it('answers INVALID_CONFIG where the directory refuses BIND_PASSWORD', async () => {
      await startWith({ AUTH_CORP_BIND_PASSWORD: 'wrong', LOG_LEVEL: 'warn' });
      const reply = await signInByLdap(other as InProcessService, { identifier: 'Gus' });
      expect(refusalOf(reply)).to.equal('503 INVALID_CONFIG');
      // The name of the setting is for the administrator.
      expect(JSON.stringify(reply.body)).to.not.contain('BIND_PASSWORD');
      expect(JSON.stringify(other?.log)).to.contain('AUTH_CORP_BIND_PASSWORD');
    });
  });
});
