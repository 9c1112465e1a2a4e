import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createTestUserAccount, makeRole, statusAndCodeOf, type TestUserAccount } from '../plugins/users/test-users.ts';
import { type InProcessService, startService, TEST_SECRET } from '../support/service.ts';
import { type AuthAnswer, type AuthWay, createGraphqlWay, createRestWay } from './auth-ways.ts';
import { requestAsAdmin } from './test-users.ts';

const STALL = 150;
const NAME = 'service_refresh_token';
const CLEARED = `${NAME}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`;

/** Status by REST of each code (specification, "Errors"); by GraphQL the status of an error of a field is 200. */
const STATUS: Readonly<Record<string, number>> = {
  INVALID_CREDENTIALS: 401,
  INVALID_OTP: 401,
  INVALID_IP: 401,
  INVALID_PROVIDER: 401,
  TOKEN_EXPIRED: 401,
  USER_SUSPENDED: 401,
  INVALID_TOKEN: 403,
  INVALID_PAYLOAD: 400,
};

const pairOf = (cookie: string | undefined): string => cookie?.split(';', 1)[0] ?? '';

function expectRefusal(way: AuthWay, answer: AuthAnswer, code: string): void {
  expect([answer.status, answer.code], way.name).to.deep.equal([way.name === 'REST' ? STATUS[code] : 200, code]);
  expect(answer.data ?? undefined, 'a refusal has no tokens').to.equal(undefined);
  expect(answer.cookie, 'a refusal sets no cookie').to.equal(undefined);
}

/** The rows of the specification's tables on authentication, by every way that they have. */
describe('the specification of authentication', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let role: string;
  let person: TestUserAccount;
  before(async () => {
    service = await startService({ env: { LOGIN_STALL_TIME: String(STALL) } });
    role = await makeRole(service, { app_access: true });
  });
  beforeEach(async () => {
    person = await createTestUserAccount(service, role);
  });
  after(() => service?.stop());

  const change = (values: object) => requestAsAdmin(service, 'PATCH', `/users/${person.id}`, values);
  const me = async (token: string | null) => statusAndCodeOf(await service.request('GET', '/users/me', { token }));
  const sessionsOfPerson = async () =>
    (await service.database.query('select 1 from platform_sessions where "user" = $1', [person.id])).length;

  for (const create of [createRestWay, createGraphqlWay]) {
    const name = create === createRestWay ? 'REST' : 'GraphQL';
    describe(`by ${name}`, () => {
      let way: AuthWay;
      before(() => {
        way = create(service);
      });
      const login = (more: Record<string, unknown> = {}) =>
        way.login({ email: person.email, password: person.password, ...more });

      describe('login', () => {
        it('answers access_token, refresh_token and expires in milliseconds', async () => {
          const { status, code, data, cookie, headers } = await login();
          expect([status, code, cookie]).to.deep.equal([200, undefined, undefined]);
          expect(data).to.have.all.keys('access_token', 'refresh_token', 'expires');
          expect(Number(data.expires)).to.equal(900_000);
          expect(headers.get('cache-control')).to.equal('no-store');
          expect(await me(data.access_token)).to.deep.equal([200, undefined]);
        });

        it('takes mode json for the default', async () => {
          const { data, cookie } = await login({ mode: 'json' });
          expect([typeof data.refresh_token, cookie]).to.deep.equal(['string', undefined]);
        });

        it('puts the refresh token into an httpOnly cookie alone in mode cookie', async () => {
          const { data, cookie } = await login({ mode: 'cookie' });
          expect(data.refresh_token ?? undefined).to.equal(undefined);
          expect(cookie).to.match(/^service_refresh_token=[\w-]{64}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
        });

        it('signs the claims id, role, app_access, admin_access, session, auth_time, iat, exp and iss', async () => {
          const claims = jwt.verify((await login()).data.access_token, TEST_SECRET) as Record<string, unknown>;
          expect(claims).to.have.all.keys(
            ...['id', 'role', 'app_access', 'admin_access', 'session', 'auth_time', 'iat', 'exp', 'iss'],
          );
          expect(claims).to.include({ id: person.id, role, app_access: true, admin_access: false, iss: 'service' });
          expect(Number(claims.exp) - Number(claims.iat)).to.equal(900);
        });

        for (const [title, fields, code] of [
          ['a wrong password', { password: 'wrong' }, 'INVALID_CREDENTIALS'],
          ['an empty password', { password: '' }, 'INVALID_CREDENTIALS'],
          ['an unknown e-mail address', { email: 'unknown@example.com' }, 'INVALID_CREDENTIALS'],
          ['an empty e-mail address', { email: '' }, 'INVALID_CREDENTIALS'],
        ] as const)
          it(`answers ${code} for ${title}, LOGIN_STALL_TIME later`, async () => {
            const started = performance.now();
            expectRefusal(way, await login(fields), code);
            expect(performance.now() - started).to.be.at.least(STALL - 2);
          });

        for (const [title, values, code] of [
          ['status draft', { status: 'draft' }, 'USER_SUSPENDED'],
          ['status invited', { status: 'invited' }, 'USER_SUSPENDED'],
          ['status unverified', { status: 'unverified' }, 'USER_SUSPENDED'],
          ['status suspended', { status: 'suspended' }, 'USER_SUSPENDED'],
          ['status archived', { status: 'archived' }, 'USER_SUSPENDED'],
          ['another provider', { provider: 'corporate' }, 'INVALID_PROVIDER'],
          ['no password', { password: null }, 'INVALID_CREDENTIALS'],
        ] as const)
          it(`answers ${code} for a user with ${title}, LOGIN_STALL_TIME later, and opens no session`, async () => {
            await change(values);
            const started = performance.now();
            expectRefusal(way, await login(), code);
            expect(performance.now() - started).to.be.at.least(STALL - 2);
            expect(await sessionsOfPerson()).to.equal(0);
          });

        it('answers INVALID_CREDENTIALS for a wrong password whatever the status of the user', async () => {
          await change({ status: 'suspended' });
          expectRefusal(way, await login({ password: 'wrong' }), 'INVALID_CREDENTIALS');
        });

        it('answers INVALID_OTP for a user with a second factor and no code', async () => {
          await service.database.query(`update platform_users set tfa_secret = 'x' where id = $1`, [person.id]);
          expectRefusal(way, await login(), 'INVALID_OTP');
          expect(await sessionsOfPerson()).to.equal(0);
        });

        it('answers INVALID_IP where the role does not allow the address', async () => {
          const bound = await makeRole(service, { ip_access: ['10.0.0.1'] });
          await change({ role: bound });
          expectRefusal(way, await login(), 'INVALID_IP');
          expect(await sessionsOfPerson()).to.equal(0);
        });

        it('answers USER_SUSPENDED after auth_login_attempts wrong passwords, and a success clears the count', async () => {
          await requestAsAdmin(service, 'PATCH', '/settings', { auth_login_attempts: 2 });
          try {
            expectRefusal(way, await login({ password: 'wrong' }), 'INVALID_CREDENTIALS');
            expect((await login()).code).to.equal(undefined);
            for (let time = 0; time < 2; time++)
              expectRefusal(way, await login({ password: 'wrong' }), 'INVALID_CREDENTIALS');
            expectRefusal(way, await login(), 'USER_SUSPENDED');
            const { status } = await requestAsAdmin(service, 'GET', `/users/${person.id}?fields=status`);
            expect(status).to.equal('suspended');
          } finally {
            await requestAsAdmin(service, 'PATCH', '/settings', { auth_login_attempts: 25 });
          }
        });

        it('sets last_access and writes activity', async () => {
          await login();
          const { last_access } = await requestAsAdmin(service, 'GET', `/users/${person.id}?fields=last_access`);
          expect(Date.now() - Date.parse(last_access)).to.be.lessThan(60_000);
          const rows = await requestAsAdmin(service, 'GET', `/activity?filter[user]=${person.id}&fields=action`);
          expect(rows).to.deep.equal([{ action: 'login' }]);
        });
      });

      describe('refresh', () => {
        it('exchanges a valid token for new tokens, once', async () => {
          const first = (await login()).data.refresh_token;
          const { code, data, cookie, headers } = await way.refresh({ refresh_token: first });
          expect([code, cookie, headers.get('cache-control')]).to.deep.equal([undefined, undefined, 'no-store']);
          expect(data).to.have.all.keys('access_token', 'refresh_token', 'expires');
          expect(data.refresh_token).not.to.equal(first);
          expect(await me(data.access_token)).to.deep.equal([200, undefined]);
          expectRefusal(way, await way.refresh({ refresh_token: first }), 'INVALID_CREDENTIALS');
          expect((await way.refresh({ refresh_token: data.refresh_token })).code).to.equal(undefined);
        });

        it('answers INVALID_CREDENTIALS for an unknown token, and where there is none', async () => {
          for (const fields of [{ refresh_token: 'unknown' }, {}, { mode: 'json' }, { mode: 'cookie' }])
            expectRefusal(way, await way.refresh(fields), 'INVALID_CREDENTIALS');
        });

        it('takes the token of the cookie where mode and token are omitted, and answers with a cookie', async () => {
          const cookie = pairOf((await login({ mode: 'cookie' })).cookie);
          const renewed = await way.refresh({}, cookie);
          expect(renewed.data.refresh_token ?? undefined).to.equal(undefined);
          expect(renewed.cookie).to.match(/^service_refresh_token=[\w-]{64}; Max-Age=604800; Path=\/; HttpOnly;/);
          expectRefusal(way, await way.refresh({}, cookie), 'INVALID_CREDENTIALS');
        });

        it('is of mode json where the request has a token and no mode, also beside a cookie', async () => {
          const cookie = pairOf((await login({ mode: 'cookie' })).cookie);
          const { refresh_token } = (await login()).data;
          const renewed = await way.refresh({ refresh_token }, cookie);
          expect([typeof renewed.data.refresh_token, renewed.cookie]).to.deep.equal(['string', undefined]);
          expect((await way.refresh({}, cookie)).code, 'the cookie is unspent').to.equal(undefined);
        });

        it('answers TOKEN_EXPIRED for a token that was not used for REFRESH_TOKEN_TTL', async () => {
          const { refresh_token } = (await login()).data;
          await service.database.query(`update platform_sessions set expires = now() - interval '1 s'`);
          expectRefusal(way, await way.refresh({ refresh_token }), 'TOKEN_EXPIRED');
        });

        it('answers USER_SUSPENDED and removes the session where the user is no longer active', async () => {
          const { refresh_token } = (await login()).data;
          await service.database.query(`update platform_users set status = 'suspended' where id = $1`, [person.id]);
          expectRefusal(way, await way.refresh({ refresh_token }), 'USER_SUSPENDED');
          expect(await sessionsOfPerson()).to.equal(0);
        });

        it('answers INVALID_CREDENTIALS once a change of password, e-mail address or status ended the session', async () => {
          for (const values of [
            { password: 'another password' },
            { email: `x${person.email}`, password: person.password },
            { status: 'suspended' },
          ]) {
            const { refresh_token } = (await login()).data ?? {};
            await change(values);
            expectRefusal(way, await way.refresh({ refresh_token }), 'INVALID_CREDENTIALS');
            await change({ status: 'active', password: person.password, email: person.email });
          }
        });

        it('has the role of this moment in the new access token, the old one has that of its sign-in', async () => {
          const other = await makeRole(service, { app_access: false });
          const { access_token, refresh_token } = (await login()).data;
          await change({ role: other });
          const roleIn = (token: string) => (jwt.decode(token) as { role: string }).role;
          expect(roleIn(access_token)).to.equal(role);
          expect(roleIn((await way.refresh({ refresh_token })).data.access_token)).to.equal(other);
        });
      });

      describe('logout', () => {
        it('removes the session of the token, and leaves the access token valid', async () => {
          const { access_token, refresh_token } = (await login()).data;
          const out = await way.logout({ refresh_token });
          expect([out.status, out.code]).to.deep.equal([name === 'REST' ? 204 : 200, undefined]);
          expect(out.data).to.equal(name === 'REST' ? undefined : true);
          expectRefusal(way, await way.refresh({ refresh_token }), 'INVALID_CREDENTIALS');
          expect(await me(access_token)).to.deep.equal([200, undefined]);
        });

        it('takes the token of the cookie, and clears the cookie', async () => {
          const cookie = pairOf((await login({ mode: 'cookie' })).cookie);
          expect((await way.logout({}, cookie)).cookie).to.equal(CLEARED);
          expectRefusal(way, await way.refresh({}, cookie), 'INVALID_CREDENTIALS');
        });

        it('takes the token of the request before that of the cookie, which then stays', async () => {
          const cookie = pairOf((await login({ mode: 'cookie' })).cookie);
          const { refresh_token } = (await login()).data;
          expect((await way.logout({ refresh_token }, cookie)).cookie).to.equal(undefined);
          expectRefusal(way, await way.refresh({ refresh_token }), 'INVALID_CREDENTIALS');
          expect((await way.refresh({}, cookie)).code).to.equal(undefined);
        });

        it('answers INVALID_CREDENTIALS without a token, and succeeds for an unknown one', async () => {
          expectRefusal(way, await way.logout({}), 'INVALID_CREDENTIALS');
          expect((await way.logout({ refresh_token: 'unknown' })).code).to.equal(undefined);
        });
      });
    });
  }

  describe('requests that only REST can make', () => {
    it('are answered INVALID_PAYLOAD where a field is missing or is no text, and where the mode is unknown', async () => {
      const { email, password } = person;
      for (const [path, body] of [
        ['/auth/login', {}],
        ['/auth/login', { email }],
        ['/auth/login', { password }],
        ['/auth/login', { email: 1, password }],
        ['/auth/login', { email, password: [password] }],
        ['/auth/login', { email, password, mode: 'session' }],
        ['/auth/login', []],
        ['/auth/login', '{'],
        ['/auth/refresh', { refresh_token: 1 }],
        ['/auth/refresh', { mode: 'session' }],
        ['/auth/refresh', []],
        ['/auth/logout', { refresh_token: 1 }],
      ] as const) {
        const reply = await service.request('POST', path, { body });
        expect(statusAndCodeOf(reply), `${path} ${JSON.stringify(body)}`).to.deep.equal([400, 'INVALID_PAYLOAD']);
        expect(reply.body).to.have.all.keys('errors');
      }
    });
  });

  describe('static tokens', () => {
    const NEW = 'a-static-token-of-the-specification';

    it('are set, and cleared with null, by PATCH /users/<id>', async () => {
      await change({ token: NEW });
      expect(await me(NEW)).to.deep.equal([200, undefined]);
      expect(await me(person.token)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      await change({ token: null });
      expect(await me(NEW)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    });

    it('are invalid while the user is not active, and valid again afterwards', async () => {
      for (const status of ['draft', 'invited', 'unverified', 'suspended', 'archived']) {
        await change({ status });
        expect(await me(person.token), status).to.deep.equal([401, 'USER_SUSPENDED']);
      }
      await change({ status: 'active' });
      expect(await me(person.token)).to.deep.equal([200, undefined]);
    });
  });

  describe('methods of sending a token', () => {
    const get = (path: string, headers: Record<string, string> = {}) => service.request('GET', path, { headers });
    const idOf = async (path: string, headers?: Record<string, string>) => (await get(path, headers)).body.data?.id;

    it('1: the header, whatever the case of its scheme, with one space', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER'])
        expect(await idOf('/users/me?fields=id', { authorization: `${scheme} ${person.token}` })).to.equal(person.id);
      const two = await get('/users/me', { authorization: `Bearer  ${person.token}` });
      expect(statusAndCodeOf(two)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    });

    it('2 and 3: the query parameter access_token, which the header wins over', async () => {
      const other = await createTestUserAccount(service, role);
      const path = `/users/me?fields=id&access_token=${person.token}`;
      expect(await idOf(path)).to.equal(person.id);
      expect(await idOf(path, { authorization: `Bearer ${other.token}` })).to.equal(other.id);
      expect(statusAndCodeOf(await get(path, { authorization: 'Bearer wrong' }))).to.deep.equal([
        401,
        'INVALID_CREDENTIALS',
      ]);
    });

    it('4: the same slot carries access tokens and static tokens', async () => {
      const { email, password } = person;
      const tokens = (await service.request('POST', '/auth/login', { body: { email, password } })).body.data;
      for (const token of [tokens.access_token, person.token]) expect(await me(token)).to.deep.equal([200, undefined]);
      const claims = { id: person.id, role, app_access: true, admin_access: true };
      const sign = (secret: string, options: jwt.SignOptions) =>
        jwt.sign(claims, secret, { expiresIn: 60, ...options });
      for (const [title, token, expected] of [
        ['unknown', 'unknown', [401, 'INVALID_CREDENTIALS']],
        ['a refresh token', tokens.refresh_token, [401, 'INVALID_CREDENTIALS']],
        ['expired', sign(TEST_SECRET, { issuer: 'service', expiresIn: -1 }), [401, 'TOKEN_EXPIRED']],
        ['signed by another secret', sign('another', { issuer: 'service' }), [403, 'INVALID_TOKEN']],
        ['of another issuer', sign(TEST_SECRET, { issuer: 'another' }), [401, 'INVALID_CREDENTIALS']],
        ['of another algorithm', sign(TEST_SECRET, { issuer: 'service', algorithm: 'HS512' }), [403, 'INVALID_TOKEN']],
        ['unsigned', jwt.sign({ ...claims, iss: 'service' }, '', { algorithm: 'none' }), [403, 'INVALID_TOKEN']],
        ['without claims', jwt.sign({ iss: 'service' }, TEST_SECRET, { expiresIn: 60 }), [403, 'INVALID_TOKEN']],
      ] as const)
        expect(await me(token), title).to.deep.equal(expected);
    });

    it('accepts access tokens of earlier versions, which name no session', async () => {
      const claims = { id: person.id, role, app_access: true, admin_access: false };
      const token = jwt.sign(claims, TEST_SECRET, { issuer: 'service', expiresIn: 60 });
      expect(await me(token)).to.deep.equal([200, undefined]);
    });

    it('5: the cookie of the refresh token is for assets alone', async () => {
      const body = { email: person.email, password: person.password, mode: 'cookie' };
      const cookie = pairOf((await service.request('POST', '/auth/login', { body })).headers.getSetCookie()[0]);
      expect(statusAndCodeOf(await get('/users/me', { cookie }))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    });

    it('6: without a token the Public role applies', async () => {
      expect(await me(null)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect(statusAndCodeOf(await get('/users'))).to.deep.equal([403, 'FORBIDDEN']);
      expect((await get('/server/info')).status).to.equal(200);
    });
  });

  describe('GET /auth and AUTH_DISABLE_DEFAULT', () => {
    it('answer the providers without the local one, and disableDefault', async () => {
      expect((await service.request('GET', '/auth')).body).to.deep.equal({ data: [], disableDefault: false });
    });

    it('leave out login by password, by REST and GraphQL, where it is disabled', async () => {
      const disabled = await startService({ env: { AUTH_DISABLE_DEFAULT: 'true' } });
      try {
        const body = { email: disabled.admin.email, password: disabled.admin.password };
        expect(statusAndCodeOf(await disabled.request('POST', '/auth/login', { body }))).to.deep.equal([
          404,
          'ROUTE_NOT_FOUND',
        ]);
        expect((await createGraphqlWay(disabled).login(body)).status).to.equal(400);
        expect((await disabled.request('GET', '/auth')).body).to.deep.equal({ data: [], disableDefault: true });
      } finally {
        await disabled.stop();
      }
    });
  });
});
