import { expect } from 'chai';
import { fail, type Host } from '#kernel';
import type { AuthDriver, CredentialsDriver, SignInCheckStep } from '../../../plugins/auth/contract.ts';
import { startService } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type AuthFixture, startAuthFixture } from '../auth/auth-fixture.ts';
import { createUserSender, errorCodeOf, type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';
import {
  codeOf,
  createTwoFactorUser,
  enroll,
  forgetUsedSteps,
  makeEnforcingRole,
  type TwoFactorUser,
  wrongCodeOf,
} from './two-factor-users.ts';

const WRONG_CODE = [401, 'INVALID_OTP'] as const;
const WRONG_PASSWORD = [401, 'INVALID_CREDENTIALS'] as const;
const SUSPENDED = [401, 'USER_SUSPENDED'] as const;
const BUSY = [503, 'SERVICE_UNAVAILABLE'] as const;
const LIMIT = 3;

describe('a sign-in with a second factor', () => {
  let ground: AuthFixture;
  let admin: SendAsUser;
  let role: string;
  let person: TwoFactorUser;
  let secret: string;
  before(async () => {
    ground = await startAuthFixture();
    admin = createUserSender(ground.service, ground.service.admin.token);
    role = await makeEnforcingRole(ground.service);
  });
  beforeEach(async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: 25 });
    person = await createTwoFactorUser(ground.service, role);
    secret = await enroll(ground.service, person);
  });
  after(() => ground?.stop());

  const statusOf = async () => (await admin('GET', `/users/${person.id}?fields=status`)).body.data.status;

  it('is refused with INVALID_OTP without a code, and with a wrong one', async () => {
    for (const otp of [undefined, '', ' ', 7, null, wrongCodeOf(secret), 'no code', '1'.repeat(500)])
      expect(statusAndCodeOf(await person.login({ otp })), String(otp)).to.deep.equal(WRONG_CODE);
    expect(statusAndCodeOf(await person.login({ password: 'wrong', otp: codeOf(secret) }))).to.deep.equal(
      WRONG_PASSWORD,
    );
  });

  it('opens a session with a current code, in mode json and cookie, and refreshes it without a code', async () => {
    const reply = await person.login({ otp: codeOf(secret) });
    expect(reply.status).to.equal(200);
    expect(reply.body.data).to.have.keys('access_token', 'refresh_token', 'expires');
    const { refresh_token } = reply.body.data;
    const refreshed = await ground.service.request('POST', '/auth/refresh', { body: { refresh_token } });
    expect(refreshed.status).to.equal(200);
    await forgetUsedSteps(ground.service.database);
    const byCookie = await person.login({ otp: codeOf(secret), mode: 'cookie' });
    expect(byCookie.body.data).to.have.keys('access_token', 'expires');
  });

  it('accepts a code with spaces, and codes of the time steps beside the current one', async () => {
    const code = codeOf(secret);
    expect((await person.login({ otp: ` ${code.slice(0, 3)} ${code.slice(3)}` })).status).to.equal(200);
    expect((await person.login({ otp: codeOf(secret, 1) })).status).to.equal(200);
    // Four steps later is too early, also where a step ends meanwhile.
    expect(statusAndCodeOf(await person.login({ otp: codeOf(secret, 4) }))).to.deep.equal(WRONG_CODE);
    expect(statusAndCodeOf(await person.login({ otp: codeOf(secret, -3) }))).to.deep.equal(WRONG_CODE);
  });

  it('refuses a code that was used, and the codes before it', async () => {
    const [now, next] = [codeOf(secret), codeOf(secret, 1)];
    expect((await person.login({ otp: next })).status).to.equal(200);
    for (const otp of [next, now]) expect(statusAndCodeOf(await person.login({ otp }))).to.deep.equal(WRONG_CODE);
  });

  it('takes a recovery code in place of a code, each once', async () => {
    const body = { password: person.password, otp: codeOf(secret) };
    const codes = (await person.send('POST', '/users/me/tfa/recovery-codes', body)).body.data
      .recovery_codes as string[];
    const [first, second] = codes as [string, string];
    expect((await person.login({ otp: first })).status).to.equal(200);
    expect(statusAndCodeOf(await person.login({ otp: first }))).to.deep.equal(WRONG_CODE);
    expect((await person.login({ otp: second.replaceAll('-', '').toUpperCase() })).status).to.equal(200);
    const left = await person.send('GET', '/users/me/tfa/recovery-codes');
    expect(left.body.data).to.deep.equal({ remaining: 8 });
    const other = await createTwoFactorUser(ground.service, role);
    await enroll(ground.service, other);
    expect(statusAndCodeOf(await other.login({ otp: codes[2] }))).to.deep.equal(WRONG_CODE);
    expect((await person.send('POST', '/users/me/tfa/disable', { otp: codes[3] })).status).to.equal(204);
  });

  it('has the same rules by GraphQL', async () => {
    const query = `mutation ($email: String!, $password: String!, $otp: String) {
      auth_login(email: $email, password: $password, otp: $otp) { access_token refresh_token expires }
    }`;
    const login = (otp?: string) => {
      const variables = { email: person.email, password: person.password, otp };
      return ground.service.request('POST', '/graphql/system', { body: { query, variables } });
    };
    const otp = codeOf(secret);
    for (const code of [undefined, wrongCodeOf(secret)]) expect(errorCodeOf(await login(code))).to.equal('INVALID_OTP');
    expect((await login(otp)).body.data.auth_login.access_token).to.be.a('string');
    expect(errorCodeOf(await login(otp))).to.equal('INVALID_OTP');
    expect(statusAndCodeOf(await person.login({ otp }))).to.deep.equal(WRONG_CODE);
  });

  describe('and auth_login_attempts', () => {
    /** Moves the times of all attempts to before or after now, so that a pause is over, or is not over on a slow machine. */
    const moveLastAttempt = (by: string) =>
      ground.service.database.query('update platform_sign_in_attempts set at = now() + $1::interval', [by]);

    it('counts wrong codes although the password before each is right, and suspends the user', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: LIMIT });
      for (let at = 0; at < LIMIT; at++) {
        expect(await statusOf()).to.equal('active');
        expect(statusAndCodeOf(await person.login({ otp: wrongCodeOf(secret) }))).to.deep.equal(WRONG_CODE);
      }
      expect(await statusOf()).to.equal('suspended');
      expect(statusAndCodeOf(await person.login({ otp: codeOf(secret) }))).to.deep.equal(SUSPENDED);
    });

    it('counts wrong codes and wrong passwords together, until a sign-in passes all steps', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: LIMIT });
      for (let round = 0; round < 2; round++) {
        await forgetUsedSteps(ground.service.database);
        expect(statusAndCodeOf(await person.login({ password: 'wrong' }))).to.deep.equal(WRONG_PASSWORD);
        expect(statusAndCodeOf(await person.login({ otp: wrongCodeOf(secret) }))).to.deep.equal(WRONG_CODE);
        // A right password without a code is no failed attempt, and resets nothing.
        for (let at = 0; at < LIMIT; at++) expect(statusAndCodeOf(await person.login())).to.deep.equal(WRONG_CODE);
        expect((await person.login({ otp: codeOf(secret) })).status).to.equal(200);
      }
      for (let at = 0; at < LIMIT; at++) await person.login(at % 2 ? { password: 'wrong' } : { otp: '000000x' });
      expect(await statusOf()).to.equal('suspended');
    });

    it('checks no more codes than the limit where they come at the same time', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: LIMIT });
      const otp = wrongCodeOf(secret);
      const replies = await Promise.all(Array.from({ length: 16 }, () => person.login({ otp })));
      expect(replies.filter((reply) => errorCodeOf(reply) === 'INVALID_OTP').length).to.be.at.most(LIMIT);
      for (let at = 0; at < LIMIT; at++) await person.login({ otp });
      expect(await statusOf()).to.equal('suspended');
    });

    it('leaves the last active admin one code in ten seconds', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: LIMIT });
      const { email, password } = ground.service.admin;
      const { send, ...rest } = person;
      const owner: TwoFactorUser = {
        ...rest,
        password,
        send: admin,
        login: (more = {}) => ground.service.request('POST', '/auth/login', { body: { email, password, ...more } }),
      };
      const own = await enroll(ground.service, owner);
      try {
        for (let at = 0; at < LIMIT; at++)
          expect(errorCodeOf(await owner.login({ otp: wrongCodeOf(own) }))).to.equal('INVALID_OTP');
        await moveLastAttempt('1 minute');
        expect(statusAndCodeOf(await owner.login({ otp: codeOf(own) }))).to.deep.equal(BUSY);
        await moveLastAttempt('-1 minute');
        expect((await owner.login({ otp: codeOf(own) })).status).to.equal(200);
      } finally {
        const { id } = (await admin('GET', '/users/me')).body.data;
        await admin('POST', `/users/${id}/tfa/disable`);
      }
    });

    it('of null leaves one code in ten seconds after 25 wrong ones, and suspends no user', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: null });
      const otp = wrongCodeOf(secret);
      for (let at = 0; at < 25; at++) expect(statusAndCodeOf(await person.login({ otp }))).to.deep.equal(WRONG_CODE);
      await moveLastAttempt('1 minute');
      expect(statusAndCodeOf(await person.login({ otp: codeOf(secret) }))).to.deep.equal(BUSY);
      expect(await statusOf()).to.equal('active');
      await moveLastAttempt('-1 minute');
      expect((await person.login({ otp: codeOf(secret) })).status).to.equal(200);
    });
  });

  describe('by the driver of another plugin', () => {
    const NAME = 'third-party-keys';
    /** A driver that names the user by an id, which is no secret in this test. */
    const keys = (more: Partial<CredentialsDriver> & { readonly isVerified?: boolean }): CredentialsDriver => ({
      kind: 'credentials',
      name: 'keys',
      provider: 'keys',
      anyProvider: true,
      schema: { type: 'object', required: ['user'], properties: { user: { type: 'string' } } },
      identifiers: [],
      authenticate: async ({ user }) => ({ user: user as string, isSecondFactorVerified: more.isVerified }),
      ...more,
    });
    const byKeys = (more: Record<string, unknown> = {}) =>
      ground.service.request('POST', '/auth/login/keys', { body: { user: person.id, ...more } });

    async function withPlugin(
      contributes: Record<string, unknown>,
      register: (host: Host) => void,
      work: () => Promise<void>,
    ): Promise<void> {
      const unload = await ground.load({ name: NAME, manifest: { contributes }, register });
      try {
        await work();
      } finally {
        await unload();
      }
    }
    const declared = { names: ['keys'], anyProvider: true };
    const withDriver = (driver: CredentialsDriver, section: object, work: () => Promise<void>) =>
      withPlugin({ 'auth.drivers': section }, (host) => void host.contribute<AuthDriver>('auth.drivers', driver), work);

    it('needs a code, too', () =>
      withDriver(keys({}), declared, async () => {
        expect(statusAndCodeOf(await byKeys())).to.deep.equal(WRONG_CODE);
        expect((await byKeys({ otp: codeOf(secret) })).status).to.equal(200);
      }));

    it('counts wrong codes of users of every provider', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: LIMIT });
      await admin('PATCH', `/users/${person.id}`, { provider: 'keys' });
      await withDriver(keys({}), declared, async () => {
        for (let at = 0; at < LIMIT; at++)
          expect(statusAndCodeOf(await byKeys({ otp: '1' }))).to.deep.equal(WRONG_CODE);
        expect(statusAndCodeOf(await byKeys({ otp: codeOf(secret) }))).to.deep.equal(SUSPENDED);
      });
    });

    it('needs no code where driver and manifest declare that it verifies two factors, and it did', async () => {
      const section = { ...declared, verifiesSecondFactor: true };
      await withDriver(keys({ verifiesSecondFactor: true, isVerified: true }), section, async () => {
        expect((await byKeys()).status).to.equal(200);
      });
      for (const [driver, manifest] of [
        [keys({ verifiesSecondFactor: true, isVerified: false }), section],
        [keys({ verifiesSecondFactor: true }), section],
        [keys({ isVerified: true }), section],
        [keys({ isVerified: true }), declared],
      ] as const)
        await withDriver(driver, manifest, async () => {
          expect(statusAndCodeOf(await byKeys())).to.deep.equal(WRONG_CODE);
        });
    });

    it('is refused where only the driver, or only the step, says that it verifies second factors', async () => {
      const driver = keys({ verifiesSecondFactor: true });
      const error = await captureError(withDriver(driver, declared, async () => {}));
      expect(error.message).to.contain('keys does not declare that it verifies second factors');
      const step: SignInCheckStep = { name: 'mine', order: 1, verifiesSecondFactor: true, check: () => {} };
      const contributes = { 'auth.steps': { names: ['mine'] } };
      const register = (host: Host) => void host.contribute<SignInCheckStep>('auth.steps', step);
      const second = await captureError(withPlugin(contributes, register, async () => {}));
      expect(second.message).to.contain('mine does not declare that it verifies second factors');
    });

    it('uses up no code where a step before the second factor refuses', async () => {
      const step: SignInCheckStep = {
        name: 'closed',
        order: 150,
        check() {
          throw fail('INVALID_IP', 'closed');
        },
      };
      const otp = codeOf(secret);
      const register = (host: Host) => void host.contribute<SignInCheckStep>('auth.steps', step);
      await withPlugin({ 'auth.steps': { names: ['closed'] } }, register, async () => {
        expect(errorCodeOf(await person.login({ otp }))).to.equal('INVALID_IP');
      });
      expect((await person.login({ otp })).status).to.equal(200);
    });
  });

  it('is refused by a service without the plugin that verifies second factors, whatever the code', async () => {
    const { database } = ground.service;
    const without = await startService({ database, without: ['two-factor'] });
    try {
      for (const otp of [undefined, codeOf(secret)])
        expect(statusAndCodeOf(await person.login({ otp }, without))).to.deep.equal(WRONG_CODE);
      const plain = await createTwoFactorUser(ground.service, role);
      expect((await plain.login({}, without)).status).to.equal(200);
    } finally {
      await without.stop();
    }
    expect((await person.login({ otp: codeOf(secret) })).status).to.equal(200);
  });
});
