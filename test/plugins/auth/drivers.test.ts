import { expect } from 'chai';
import { fail, type Host } from '#kernel';
import type { AuthDriver, CredentialsDriver, SignInCheckStep, VerifiedSignIn } from '../../../plugins/auth/contract.ts';
import type { FreshDatabase } from '../../support/database.ts';
import type { HttpReply } from '../../support/service.ts';
import { createMigratedDatabase } from '../../support/service.ts';
import { captureError, type TestPlugin } from '../../support/test-plugins.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';
import { type AuthFixture, startAuthFixture } from './auth-fixture.ts';

const STALL = 60;
const NAME = 'third-party-ldap';

/** A contributed credentials driver that accepts every identifier with the password `right`. */
const directory: CredentialsDriver = {
  kind: 'credentials',
  name: 'ldap',
  provider: 'corporate',
  icon: 'building',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['identifier', 'password'],
    properties: { identifier: { type: 'string' }, password: { type: 'string' } },
  },
  identifiers: ['identifier'],
  async authenticate({ identifier, password }) {
    if (password !== 'right') throw fail('INVALID_CREDENTIALS', 'the directory refuses the password');
    return { externalIdentifier: identifier as string };
  },
};

const plugin = (
  { drivers = [], steps = [] }: { drivers?: readonly AuthDriver[]; steps?: readonly SignInCheckStep[] },
  contributes: Record<string, unknown> = {
    ...(drivers.length > 0 ? { 'auth.drivers': { names: [...new Set(drivers.map(({ name }) => name))] } } : {}),
    ...(steps.length > 0 ? { 'auth.steps': { names: steps.map(({ name }) => name) } } : {}),
  },
): TestPlugin => ({
  name: NAME,
  manifest: { contributes },
  register(host: Host) {
    for (const driver of drivers) host.contribute<AuthDriver>('auth.drivers', driver);
    for (const step of steps) host.contribute<SignInCheckStep>('auth.steps', step);
  },
});

describe('auth.drivers and auth.steps of plugins that are loaded and unloaded', () => {
  let database: FreshDatabase;
  let ground: AuthFixture;
  let admin: SendAsUser;
  let role: string;
  /** A user of the provider of the driver `ldap`; `identifier` is the user's external identifier. */
  let employee: TestUserAccount;
  let identifier: string;
  /** A user of the default provider, who signs in by e-mail address and password. */
  let person: TestUserAccount;
  let unload: (() => Promise<void>) | undefined;

  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('drivers');
    ground = await startAuthFixture({ database, env: { LOGIN_STALL_TIME: String(STALL) } });
    admin = createUserSender(ground.service, ground.service.admin.token);
    role = await makeRole(ground.service, { app_access: true });
  });
  beforeEach(async () => {
    person = await createTestUserAccount(ground.service, role);
    employee = await createTestUserAccount(ground.service, role);
    identifier = `cn=${employee.id}`;
    await admin('PATCH', `/users/${employee.id}`, { provider: 'corporate', external_identifier: identifier });
  });
  afterEach(async () => {
    await unload?.();
    unload = undefined;
  });
  after(async () => {
    await ground?.stop();
    await database?.drop();
  });

  const load = async (sketched: TestPlugin) => {
    unload = await ground.load(sketched);
  };
  const post = (path: string, body?: unknown): Promise<HttpReply> => ground.service.request('POST', path, { body });
  const byDirectory = (more: Record<string, unknown> = {}, provider = 'corporate') =>
    post(`/auth/login/${provider}`, { identifier, password: 'right', ...more });
  const byPassword = (more: Record<string, unknown> = {}) =>
    post('/auth/login', { email: person.email, password: person.password, ...more });
  const providers = async () => (await ground.service.request('GET', '/auth')).body.data;
  const idOf = async (token: string) =>
    (await ground.service.request('GET', '/users/me?fields=id', { token })).body.data.id;

  describe('a credentials driver', () => {
    it('answers under /auth/login/<provider> while its plugin is loaded, and leaves nothing behind', async () => {
      expect(statusAndCodeOf(await byDirectory())).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect(await providers()).to.deep.equal([]);

      await load(plugin({ drivers: [directory] }));
      expect(await providers()).to.deep.equal([
        { name: 'corporate', driver: 'ldap', icon: 'building', label: 'corporate' },
      ]);
      const { status, body, headers } = await byDirectory();
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.data).to.have.keys('access_token', 'refresh_token', 'expires');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(await idOf(body.data.access_token)).to.equal(employee.id);
      expect((await post('/auth/refresh', { refresh_token: body.data.refresh_token })).status).to.equal(200);

      await unload?.();
      unload = undefined;
      expect(statusAndCodeOf(await byDirectory())).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect(await providers()).to.deep.equal([]);
      expect(ground.left(NAME)).to.deep.equal({ facets: 0, listeners: 0 });
    });

    it('signs in no user once its plugin is unloaded, even by a check that began before', async () => {
      const called = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<{ user: string }>();
      const slow: CredentialsDriver = {
        ...directory,
        authenticate() {
          called.resolve();
          return answer.promise;
        },
      };
      await load(plugin({ drivers: [slow] }));
      const reply = byDirectory();
      await called.promise;
      await unload?.();
      unload = undefined;
      answer.resolve({ user: employee.id });
      expect(statusAndCodeOf(await reply)).to.deep.equal([401, 'INVALID_PROVIDER']);
      expect(await database.query('select 1 from platform_sessions where "user" = $1', [employee.id])).to.have.length(
        0,
      );
    });

    it('puts the refresh token into the cookie in mode cookie', async () => {
      await load(plugin({ drivers: [directory] }));
      const reply = await byDirectory({ mode: 'cookie' });
      expect(reply.body.data).to.have.keys('access_token', 'expires');
      expect(reply.headers.getSetCookie()[0]).to.match(/^service_refresh_token=[\w-]{64};/);
    });

    it('refuses wrong credentials no sooner than LOGIN_STALL_TIME later', async () => {
      await load(plugin({ drivers: [directory] }));
      const started = performance.now();
      expect(statusAndCodeOf(await byDirectory({ password: 'wrong' }))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect(performance.now() - started).to.be.at.least(STALL - 2);
    });

    it('is called with credentials that fit its schema only', async () => {
      await load(plugin({ drivers: [directory] }));
      for (const body of [
        {},
        [],
        undefined,
        { identifier: 1, password: 'right' },
        { identifier, password: 'right', x: 1 },
      ])
        expect(statusAndCodeOf(await post('/auth/login/corporate', body)), JSON.stringify(body)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
      expect(statusAndCodeOf(await byDirectory({ mode: 'session' }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect((await byDirectory({ otp: '123456' })).status).to.equal(200);
    });

    it('signs in users of its own provider only', async () => {
      const answers = (user: string): CredentialsDriver => ({ ...directory, authenticate: async () => ({ user }) });
      await load(plugin({ drivers: [answers(person.id)] }));
      expect(statusAndCodeOf(await byDirectory())).to.deep.equal([401, 'INVALID_PROVIDER']);
      await unload?.();
      await load(plugin({ drivers: [answers(employee.id)] }));
      expect((await byDirectory()).status).to.equal(200);
      await unload?.();
      for (const user of ['no-uuid', undefined] as string[]) {
        await load(plugin({ drivers: [answers(user)] }));
        expect(statusAndCodeOf(await byDirectory())).to.deep.equal([401, 'INVALID_CREDENTIALS']);
        await unload?.();
      }
    });

    it('signs in users of every provider where its manifest declares it', async () => {
      const driver: CredentialsDriver = {
        ...directory,
        anyProvider: true,
        authenticate: async () => ({ user: person.id }),
      };
      expect((await captureError(load(plugin({ drivers: [driver] })))).message).to.contain('any provider');
      await load(plugin({ drivers: [driver] }, { 'auth.drivers': { names: ['ldap'], anyProvider: true } }));
      expect((await byDirectory()).status).to.equal(200);
    });

    it('rejects unknown users and users that are not active', async () => {
      await load(plugin({ drivers: [directory] }));
      expect(statusAndCodeOf(await byDirectory({ identifier: 'cn=unknown' }))).to.deep.equal([
        401,
        'INVALID_CREDENTIALS',
      ]);
      await admin('PATCH', `/users/${employee.id}`, { status: 'suspended' });
      expect(statusAndCodeOf(await byDirectory())).to.deep.equal([401, 'USER_SUSPENDED']);
    });

    it('receives the credentials that filters of auth.login changed, and the action shows its identifiers only', async () => {
      await load(plugin({ drivers: [directory] }));
      const seen: unknown[] = [];
      const stops = [
        ground.events.onFilter('auth.login', (payload, { user, provider, status }) => {
          seen.push({ payload, user, provider, status });
          return { ...(payload as object), password: 'right' };
        }),
      ];
      const success = new Promise((resolve) =>
        stops.push(
          ground.events.onAction('auth.login', ({ payload, user, provider, status }) =>
            resolve({ payload, user, provider, status }),
          ),
        ),
      );
      try {
        expect((await byDirectory({ password: 'left' })).status).to.equal(200);
        const about = { provider: 'corporate', user: undefined, status: 'pending' };
        expect(seen).to.deep.equal([{ payload: { identifier, password: 'left' }, ...about }]);
        const after = { provider: 'corporate', user: employee.id, status: 'success' };
        expect(await success).to.deep.equal({ payload: { identifier }, ...after });
      } finally {
        for (const stop of stops) stop();
      }
    });

    it('neither replaces the local driver nor is replaced by a later one', async () => {
      const thief = { ...directory, provider: 'default', authenticate: async () => ({ user: person.id }) };
      const second = { ...directory, authenticate: async () => ({ user: person.id }) };
      await load(plugin({ drivers: [directory, second, thief] }));
      expect((await byDirectory()).status).to.equal(200);
      expect(statusAndCodeOf(await byDirectory({}, 'default'))).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect(statusAndCodeOf(await byPassword({ password: 'right' }))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect((await byPassword()).status).to.equal(200);
    });

    it('is refused under a name that the manifest does not declare', async () => {
      const error = await captureError(load(plugin({ drivers: [directory] }, { 'auth.drivers': { names: ['saml'] } })));
      expect(error.message).to.contain('the driver ldap is not declared');
      expect(ground.left(NAME)).to.deep.equal({ facets: 0, listeners: 0 });
    });

    it('is not called for other methods and provider names', async () => {
      await load(
        plugin(
          { drivers: [directory, { kind: 'redirect', name: 'openid', provider: 'google' }] },
          {
            'auth.drivers': { names: ['ldap', 'openid'] },
          },
        ),
      );
      expect((await ground.service.request('GET', '/auth/login/corporate')).status).to.equal(404);
      for (const name of ['google', 'Corporate', 'other', '__proto__'])
        expect(statusAndCodeOf(await byDirectory({}, name)), name).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect((await providers()).map(({ name }: { name: string }) => name)).to.deep.equal(['corporate', 'google']);
    });
  });

  describe('a step', () => {
    const otp: SignInCheckStep = {
      name: 'otp',
      order: 250,
      check({ otp: code }) {
        if (code !== '123456') throw fail('INVALID_OTP', 'the code is wrong');
      },
    };

    it('runs before every session while its plugin is loaded', async () => {
      expect((await byPassword()).status).to.equal(200);
      await load(plugin({ drivers: [directory], steps: [otp] }));
      for (const signIn of [byPassword, byDirectory]) {
        expect(statusAndCodeOf(await signIn())).to.deep.equal([401, 'INVALID_OTP']);
        expect(statusAndCodeOf(await signIn({ otp: 7 }))).to.deep.equal([401, 'INVALID_OTP']);
        expect((await signIn({ otp: '123456' })).status).to.equal(200);
      }
      const query = `mutation ($email: String!, $password: String!, $otp: String) {
        auth_login(email: $email, password: $password, otp: $otp) { expires }
      }`;
      const variables = { email: person.email, password: person.password };
      expect((await post('/graphql/system', { query, variables })).body.errors[0].extensions.code).to.equal(
        'INVALID_OTP',
      );
      const withCode = await post('/graphql/system', { query, variables: { ...variables, otp: '123456' } });
      expect(withCode.body).not.to.have.property('errors');
      await unload?.();
      unload = undefined;
      expect((await byPassword()).status).to.equal(200);
      expect(ground.left(NAME)).to.deep.equal({ facets: 0, listeners: 0 });
    });

    it('runs in the order of its number, after the credential is verified', async () => {
      const ran: string[] = [];
      const step = (name: string, order: number): SignInCheckStep => ({
        name,
        order,
        check: () => void ran.push(name),
      });
      await load(plugin({ steps: [step('late', 400), step('early', 50)] }));
      await byPassword({ password: 'wrong' });
      expect(ran).to.deep.equal([]);
      await byPassword();
      expect(ran.splice(0)).to.deep.equal(['early', 'late']);
      await admin('PATCH', `/users/${person.id}`, { status: 'suspended' });
      expect(statusAndCodeOf(await byPassword())).to.deep.equal([401, 'USER_SUSPENDED']);
      expect(ran).to.deep.equal(['early']);
    });

    it('sees the user, the provider and the client, without hashes and secrets, and changes none of it', async () => {
      let attempt: VerifiedSignIn | undefined;
      await load(plugin({ steps: [{ name: 'look', order: 1, check: (one) => void (attempt = one) }] }));
      expect((await byPassword({ otp: '1' })).status).to.equal(200);
      const { client, ...rest } = attempt as VerifiedSignIn;
      expect(rest).to.deep.equal({
        user: { id: person.id, status: 'active', role, hasSecondFactor: false },
        provider: 'default',
        driver: 'local',
        otp: '1',
      });
      expect(client).to.have.keys('ip', 'userAgent', 'origin');
      expect([attempt, attempt?.user, client].every(Object.isFrozen)).to.equal(true);
    });

    it('contributed by auth rejects users with a second factor and addresses that the role does not allow', async () => {
      const bound = await makeRole(ground.service, { ip_access: '192.0.2.1' });
      await admin('PATCH', `/users/${person.id}`, { role: bound });
      expect(statusAndCodeOf(await byPassword())).to.deep.equal([401, 'INVALID_IP']);
      await database.query(`update platform_users set tfa_secret = 'x' where id = $1`, [person.id]);
      expect(statusAndCodeOf(await byPassword())).to.deep.equal([401, 'INVALID_OTP']);
    });

    it('is refused under a name that the manifest does not declare', async () => {
      const error = await captureError(load(plugin({ steps: [otp] }, { 'auth.steps': { names: ['lockout'] } })));
      expect(error.message).to.contain('the step otp is not declared');
    });
  });
});
