import { expect } from 'chai';
import { Secret } from 'otpauth';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, makeRole, type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';
import {
  codeOf,
  createTwoFactorUser,
  enroll,
  forgetUsedSteps,
  makeEnforcingRole,
  type TwoFactorUser,
  wrongCodeOf,
} from './two-factor-users.ts';

const UNAUTHENTICATED = [401, 'INVALID_CREDENTIALS'] as const;
const INVALID = [400, 'INVALID_PAYLOAD'] as const;
const FORBIDDEN = [403, 'FORBIDDEN'] as const;
const WRONG_CODE = [401, 'INVALID_OTP'] as const;
const GENERATE = '/users/me/tfa/generate';
const ENABLE = '/users/me/tfa/enable';
const DISABLE = '/users/me/tfa/disable';
const RECOVERY = '/users/me/tfa/recovery-codes';

describe('routes of two-factor sign-in', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let role: string;
  let person: TwoFactorUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    role = await makeEnforcingRole(service);
  });
  beforeEach(async () => {
    person = await createTwoFactorUser(service, role);
  });
  after(() => service?.stop());

  const isEnrolled = async ({ id }: { readonly id: string } = person) =>
    (await admin('GET', `/users/${id}?fields=tfa_secret`)).body.data.tfa_secret !== null;
  const generate = (user = person) => user.send('POST', GENERATE, { password: user.password });

  it('refuse requests without a user with INVALID_CREDENTIALS', async () => {
    const bodies: Readonly<Record<string, unknown>> = {
      [GENERATE]: { password: 'x' },
      [ENABLE]: { secret: 'x', otp: '1' },
      [DISABLE]: { otp: '1' },
      [RECOVERY]: { password: 'x', otp: '1' },
    };
    for (const [path, body] of Object.entries(bodies))
      expect(statusAndCodeOf(await service.request('POST', path, { body })), path).to.deep.equal(UNAUTHENTICATED);
    expect(statusAndCodeOf(await service.request('GET', RECOVERY))).to.deep.equal(UNAUTHENTICATED);
  });

  it('refuse a static token', async () => {
    for (const [method, path, body] of [
      ['POST', GENERATE, { password: person.password }],
      ['POST', ENABLE, { secret: 'x', otp: '1' }],
      ['POST', DISABLE, { otp: '1' }],
      ['POST', RECOVERY, { password: person.password, otp: '1' }],
      ['GET', RECOVERY, undefined],
    ] as const)
      expect(statusAndCodeOf(await person.ask(method, path, body)), path).to.deep.equal(FORBIDDEN);
  });

  describe('POST /users/me/tfa/generate', () => {
    it('answers a random secret and its otpauth address, and turns nothing on', async () => {
      await admin('PATCH', '/settings', { project_name: 'Café & Co' });
      const [first, second] = [await generate(), await generate()];
      expect(first.status).to.equal(200);
      expect(first.body.data).to.have.keys('secret', 'otpauth_url');
      expect(first.headers.get('cache-control')).to.equal('no-store');
      expect(Secret.fromBase32(first.body.data.secret).bytes).to.have.length(20);
      expect(second.body.data.secret).not.to.equal(first.body.data.secret);
      const url = new URL(first.body.data.otpauth_url);
      expect(url.protocol + url.host).to.equal('otpauth:totp');
      expect(decodeURIComponent(url.pathname)).to.equal(`/Café & Co:${person.email}`);
      expect(url.searchParams.get('secret')).to.equal(first.body.data.secret);
      expect(url.searchParams.get('issuer')).to.equal('Café & Co');
      expect(await isEnrolled()).to.equal(false);
      expect((await person.login()).status).to.equal(200);
    });

    it('refuses a missing password with INVALID_PAYLOAD and a wrong one with INVALID_CREDENTIALS', async () => {
      for (const body of [{}, { password: 7 }, { password: null }, []])
        expect(statusAndCodeOf(await person.send('POST', GENERATE, body))).to.deep.equal(INVALID);
      for (const password of ['wrong', ''])
        expect(statusAndCodeOf(await person.send('POST', GENERATE, { password }))).to.deep.equal(UNAUTHENTICATED);
    });

    it('refuses a user without an e-mail address, and a user whose second factor is on', async () => {
      await admin('PATCH', `/users/${person.id}`, { email: null });
      expect(statusAndCodeOf(await generate())).to.deep.equal(INVALID);
      const other = await createTwoFactorUser(service, role);
      await enroll(service, other);
      expect(statusAndCodeOf(await generate(other))).to.deep.equal(INVALID);
    });

    it('needs no password of a user of another provider', async () => {
      await admin('PATCH', `/users/${person.id}`, { provider: 'corporate' });
      const reply = await person.send('POST', GENERATE, {});
      expect(reply.status).to.equal(200);
      const { secret } = reply.body.data;
      expect((await person.send('POST', ENABLE, { secret, otp: codeOf(secret) })).status).to.equal(204);
    });

    it('counts wrong passwords as failed sign-ins', async () => {
      await admin('PATCH', '/settings', { auth_login_attempts: 3 });
      try {
        for (let at = 0; at < 3; at++) await person.send('POST', GENERATE, { password: 'wrong' });
        expect(statusAndCodeOf(await person.login())).to.deep.equal([401, 'USER_SUSPENDED']);
      } finally {
        await admin('PATCH', '/settings', { auth_login_attempts: 25 });
      }
    });
  });

  describe('POST /users/me/tfa/enable', () => {
    it('turns the second factor on with 204, and shows a mask in place of the secret', async () => {
      const { secret } = (await generate()).body.data;
      const reply = await person.send('POST', ENABLE, { secret, otp: codeOf(secret) });
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      const { body } = await admin('GET', `/users/${person.id}?fields=tfa_secret`);
      expect(body.data.tfa_secret).to.equal('**********');
      expect(statusAndCodeOf(await person.login())).to.deep.equal(WRONG_CODE);
    });

    it('refuses missing members, and a second factor that is on already', async () => {
      const { secret } = (await generate()).body.data;
      for (const body of [{}, { secret }, { otp: '1' }, { secret, otp: 123456 }, { secret: null, otp: '1' }])
        expect(statusAndCodeOf(await person.send('POST', ENABLE, body))).to.deep.equal(INVALID);
      await enroll(service, person);
      expect(statusAndCodeOf(await person.send('POST', ENABLE, { secret, otp: codeOf(secret) }))).to.deep.equal(
        INVALID,
      );
    });

    it('refuses a wrong code with INVALID_OTP, and stays off', async () => {
      const { secret } = (await generate()).body.data;
      for (const otp of [wrongCodeOf(secret), '', 'abcdef', '1'.repeat(1000)])
        expect(statusAndCodeOf(await person.send('POST', ENABLE, { secret, otp })), otp).to.deep.equal(WRONG_CODE);
      expect(await isEnrolled()).to.equal(false);
    });

    it('refuses every secret but the one that was generated last for this user', async () => {
      const first = (await generate()).body.data.secret;
      const last = (await generate()).body.data.secret;
      const other = await createTwoFactorUser(service, role);
      const foreign = (await generate(other)).body.data.secret;
      for (const secret of [first, foreign, 'JBSWY3DPEHPK3PXP', ''])
        expect(
          statusAndCodeOf(await person.send('POST', ENABLE, { secret, otp: secret && codeOf(secret) })),
        ).to.deep.equal(INVALID);
      const old = `update platform_second_factors set offered_at = now() - interval '2 hours' where "user" = $1`;
      await service.database.query(old, [person.id]);
      const otp = codeOf(last);
      expect(statusAndCodeOf(await person.send('POST', ENABLE, { secret: last, otp }))).to.deep.equal(INVALID);
      expect(await isEnrolled()).to.equal(false);
    });

    it('turns the second factor on for one of several concurrent requests', async () => {
      const { secret } = (await generate()).body.data;
      const otp = codeOf(secret);
      const replies = await Promise.all(Array.from({ length: 8 }, () => person.send('POST', ENABLE, { secret, otp })));
      expect(replies.filter(({ status }) => status === 204)).to.have.length(1);
      const others = replies.filter(({ status }) => status !== 204).map(statusAndCodeOf);
      for (const other of others) expect(other).to.deep.equal(INVALID);
    });

    it('uses up the code that it was turned on with', async () => {
      const { secret } = (await generate()).body.data;
      const otp = codeOf(secret);
      expect((await person.send('POST', ENABLE, { secret, otp })).status).to.equal(204);
      expect(statusAndCodeOf(await person.login({ otp }))).to.deep.equal(WRONG_CODE);
      expect((await person.login({ otp: codeOf(secret, 1) })).status).to.equal(200);
    });
  });

  describe('POST /users/me/tfa/disable', () => {
    it('turns the second factor off with 204 by a current code', async () => {
      const secret = await enroll(service, person);
      const reply = await person.send('POST', DISABLE, { otp: codeOf(secret) });
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      expect(await isEnrolled()).to.equal(false);
      expect((await person.login()).status).to.equal(200);
    });

    it('refuses a missing code with INVALID_PAYLOAD, wrong and used ones with INVALID_OTP, and stays on', async () => {
      const secret = await enroll(service, person);
      for (const body of [{}, { otp: null }, { otp: 123456 }])
        expect(statusAndCodeOf(await person.send('POST', DISABLE, body))).to.deep.equal(INVALID);
      const otp = codeOf(secret);
      expect((await person.login({ otp })).status).to.equal(200);
      for (const code of [otp, wrongCodeOf(secret), ''])
        expect(statusAndCodeOf(await person.send('POST', DISABLE, { otp: code })), code).to.deep.equal(WRONG_CODE);
      expect(await isEnrolled()).to.equal(true);
    });

    it('counts wrong codes as failed sign-ins', async () => {
      const secret = await enroll(service, person);
      await admin('PATCH', '/settings', { auth_login_attempts: 3 });
      try {
        for (let at = 0; at < 3; at++) {
          const reply = await person.send('POST', DISABLE, { otp: wrongCodeOf(secret) });
          expect(statusAndCodeOf(reply)).to.deep.equal(WRONG_CODE);
        }
        const reply = await person.send('POST', DISABLE, { otp: codeOf(secret) });
        expect(statusAndCodeOf(reply)).to.deep.equal([401, 'USER_SUSPENDED']);
        expect(await isEnrolled()).to.equal(true);
      } finally {
        await admin('PATCH', '/settings', { auth_login_attempts: 25 });
      }
    });

    it('refuses a user whose second factor is off', async () => {
      expect(statusAndCodeOf(await person.send('POST', DISABLE, { otp: '123456' }))).to.deep.equal(INVALID);
    });
  });

  describe('POST /users/me/tfa/recovery-codes', () => {
    const renew = async (secret: string, user = person) =>
      user.send('POST', RECOVERY, { password: user.password, otp: codeOf(secret) });

    it('answers ten codes once, of which the user reads the remaining number only', async () => {
      const secret = await enroll(service, person);
      expect((await person.send('GET', RECOVERY)).body.data).to.deep.equal({ remaining: 0 });
      const reply = await renew(secret);
      const codes = reply.body.data.recovery_codes as string[];
      expect(new Set(codes).size).to.equal(10);
      for (const code of codes) expect(code).to.match(/^(?:[0-9a-z]{5}-){3}[0-9a-z]{5}$/);
      expect(reply.headers.get('cache-control')).to.equal('no-store');
      expect((await person.send('GET', RECOVERY)).body.data).to.deep.equal({ remaining: 10 });
      const stored = await service.database.query('select code from platform_recovery_codes');
      for (const { code } of stored) expect(codes).not.to.contain(code);
      expect(stored).to.have.length.of.at.least(10);
    });

    it('replaces earlier codes, also where two requests do it at the same time', async () => {
      const secret = await enroll(service, person);
      const [first] = (await renew(secret)).body.data.recovery_codes as string[];
      await forgetUsedSteps(service.database);
      const bodies = [codeOf(secret), codeOf(secret, 1)].map((otp) => ({ password: person.password, otp }));
      const replies = await Promise.all(bodies.map((body) => person.send('POST', RECOVERY, body)));
      // The code of the later time step uses up the earlier one where it comes first.
      expect(replies.some(({ status }) => status === 200)).to.equal(true);
      expect((await person.send('GET', RECOVERY)).body.data).to.deep.equal({ remaining: 10 });
      expect(statusAndCodeOf(await person.login({ otp: first }))).to.deep.equal(WRONG_CODE);
    });

    it('needs the password and a code', async () => {
      const secret = await enroll(service, person);
      const { password } = person;
      const otp = codeOf(secret);
      for (const [body, expected] of [
        [{ password }, INVALID],
        [{ otp }, INVALID],
        [{ password: 'wrong', otp }, UNAUTHENTICATED],
        [{ password, otp: wrongCodeOf(secret) }, WRONG_CODE],
      ] as const)
        expect(statusAndCodeOf(await person.send('POST', RECOVERY, body))).to.deep.equal(expected);
      const off = await createTwoFactorUser(service, role);
      const reply = await off.send('POST', RECOVERY, { password: off.password, otp: '1' });
      expect(statusAndCodeOf(reply)).to.deep.equal(INVALID);
    });
  });

  describe('POST /users/<id>/tfa/disable', () => {
    const reset = (send: SendAsUser, id = person.id) => send('POST', `/users/${id}/tfa/disable`);

    it('turns the second factor of a user off for an admin, and may be repeated', async () => {
      const secret = await enroll(service, person);
      const [code] = (await person.send('POST', RECOVERY, { password: person.password, otp: codeOf(secret) })).body.data
        .recovery_codes as string[];
      for (let at = 0; at < 2; at++) expect((await reset(admin)).status).to.equal(204);
      expect((await person.login()).status).to.equal(200);
      // Codes of before are gone, also once another secret is enrolled.
      await enroll(service, person);
      expect(statusAndCodeOf(await person.login({ otp: code }))).to.deep.equal(WRONG_CODE);
      expect(statusAndCodeOf(await person.login({ otp: codeOf(secret) }))).to.deep.equal(WRONG_CODE);
    });

    it('refuses all others, also the user, and an admin for an unknown user', async () => {
      await enroll(service, person);
      const manager = await makeRole(service, {}, [
        { collection: 'platform_users', action: 'update', fields: ['*', 'tfa_secret'], permissions: {} },
      ]);
      const other = await createTwoFactorUser(service, manager);
      for (const send of [person.send, other.send, createUserSender(service, null)])
        expect(statusAndCodeOf(await reset(send))).to.deep.equal(FORBIDDEN);
      for (const id of ['00000000-0000-4000-8000-000000000000', 'nothing'])
        expect(statusAndCodeOf(await reset(admin, id))).to.deep.equal(FORBIDDEN);
      expect(await isEnrolled()).to.equal(true);
    });
  });

  describe('of a user whose role has no enforce_tfa', () => {
    it('need a permission to update the own tfa_secret', async () => {
      const plain = await makeRole(service, { app_access: true });
      const update = { collection: 'platform_users', action: 'update' };
      const wide = await makeRole(service, {}, [{ ...update, fields: ['*'], permissions: {} }]);
      const foreign = await makeRole(service, {}, [
        { ...update, fields: ['tfa_secret'], permissions: { id: { _neq: '$CURRENT_USER' } } },
      ]);
      for (const id of [plain, wide, foreign]) {
        const user = await createTwoFactorUser(service, id);
        expect(statusAndCodeOf(await generate(user))).to.deep.equal(FORBIDDEN);
        expect(statusAndCodeOf(await user.send('POST', ENABLE, { secret: 'x', otp: '1' }))).to.deep.equal(FORBIDDEN);
        expect(statusAndCodeOf(await user.send('POST', DISABLE, { otp: '1' }))).to.deep.equal(FORBIDDEN);
      }
      const own = await makeRole(service, {}, [
        { ...update, fields: ['tfa_secret'], permissions: { id: { _eq: '$CURRENT_USER' } } },
      ]);
      const user = await createTwoFactorUser(service, own);
      const secret = await enroll(service, user);
      expect((await user.send('POST', DISABLE, { otp: codeOf(secret) })).status).to.equal(204);
    });

    it('serve admins', async () => {
      const { email, password } = service.admin;
      const { secret } = (await admin('POST', GENERATE, { password })).body.data;
      expect((await admin('POST', ENABLE, { secret, otp: codeOf(secret) })).status).to.equal(204);
      const login = (otp?: string) => service.request('POST', '/auth/login', { body: { email, password, otp } });
      expect(statusAndCodeOf(await login())).to.deep.equal(WRONG_CODE);
      expect((await admin('POST', DISABLE, { otp: codeOf(secret, 1) })).status).to.equal(204);
      expect((await login()).status).to.equal(200);
    });
  });

  it('leave enforce_tfa a policy: a user without a second factor signs in and is served', async () => {
    expect((await person.login()).status).to.equal(200);
    expect((await person.send('GET', '/users/me')).status).to.equal(200);
  });

  it('write rows of activity by the caller, without any secret', async () => {
    const secret = await enroll(service, person);
    await person.send('POST', RECOVERY, { password: person.password, otp: codeOf(secret) });
    await admin('POST', `/users/${person.id}/tfa/disable`);
    const query = `filter[collection][_eq]=platform_users&filter[item][_eq]=${person.id}&filter[action][_starts_with]=tfa`;
    const { data } = (await admin('GET', `/activity?sort=id&fields=action,user,comment&${query}`)).body;
    const me = (await admin('GET', '/users/me')).body.data.id;
    expect(data).to.deep.equal([
      { action: 'tfa-enable', user: person.id, comment: null },
      { action: 'tfa-recovery-codes', user: person.id, comment: null },
      { action: 'tfa-disable', user: me, comment: null },
    ]);
  });

  it('have no GraphQL form', async () => {
    const query = '{ __schema { mutationType { fields { name } } queryType { fields { name } } } }';
    const reply = await admin('POST', '/graphql/system', { query });
    const { mutationType, queryType } = reply.body.data.__schema;
    const names = [...mutationType.fields, ...queryType.fields].map(({ name }: { name: string }) => name);
    expect(names.filter((name) => /tfa|second_factor|recovery/.test(name))).to.deep.equal([]);
    expect(names).to.contain('auth_login');
  });
});
