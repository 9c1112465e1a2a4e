import { expect } from 'chai';
import {
  createTestPermission,
  createTestUserAccount,
  makeRole,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { type HttpReply, type InProcessService, type RequestOptions, startService } from '../support/service.ts';

const WRONG = 'INVALID_CREDENTIALS';
const codesOf = ({ body }: HttpReply): unknown[] =>
  (body.errors ?? []).map((error: { extensions: { code: unknown } }) => error.extensions.code);
/** Status and codes of the answer to a document with a field that is not in the schema. */
const ABSENT = [400, ['GRAPHQL_VALIDATION_EXCEPTION']];

describe('/graphql/system', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let role: string;
  let person: TestUserAccount;
  const ask = (token: string | null, query: string, variables?: object, options: RequestOptions = {}) =>
    service.request('POST', '/graphql/system', { token, body: { query, variables }, ...options });
  const dataOf = async (pending: Promise<HttpReply>) => {
    const { status, body } = await pending;
    expect([status, body.errors], JSON.stringify(body.errors)).to.deep.equal([200, undefined]);
    return body.data;
  };
  const absent = async (token: string | null, query: string) => {
    const reply = await ask(token, query);
    expect([reply.status, codesOf(reply)], query).to.deep.equal(ABSENT);
  };

  before(async () => {
    service = await startService({ env: { QUERY_LIMIT_MAX: '500' } });
    role = await makeRole(service, { app_access: true }, [
      {
        collection: 'platform_users',
        action: 'update',
        permissions: { id: { _eq: '$CURRENT_USER' } },
        fields: ['title'],
      },
    ]);
    person = await createTestUserAccount(service, role);
  });
  after(() => service?.stop());

  describe('auth_login', () => {
    const LOGIN = `mutation ($email: String!, $password: String!, $mode: auth_mode) {
      auth_login(email: $email, password: $password, mode: $mode) { access_token expires refresh_token }
    }`;
    const REFRESH = `mutation ($token: String, $mode: auth_mode) {
      auth_refresh(refresh_token: $token, mode: $mode) { access_token expires refresh_token }
    }`;
    const login = (more: object = {}) => ask(null, LOGIN, { email: person.email, password: person.password, ...more });
    const refresh = (token: unknown, cookie?: string, mode?: string) =>
      ask(null, REFRESH, { token, mode }, cookie === undefined ? {} : { headers: { cookie } });
    const me = async (token: string) => (await service.request('GET', '/users/me?fields=id', { token })).body.data;

    it('answers two tokens that all routes accept', async () => {
      const reply = await login();
      const { auth_login: tokens } = await dataOf(Promise.resolve(reply));
      expect(reply.headers.get('cache-control')).to.equal('no-store');
      expect(tokens.expires).to.equal('900000');
      expect(await me(tokens.access_token)).to.deep.equal({ id: person.id });
      const again = await service.request('POST', '/auth/refresh', { body: { refresh_token: tokens.refresh_token } });
      const { auth_refresh: renewed } = await dataOf(refresh(again.body.data.refresh_token));
      expect(await me(renewed.access_token)).to.deep.equal({ id: person.id });
      expect(codesOf(await refresh(again.body.data.refresh_token))).to.deep.equal([WRONG]);
    });

    it('answers the members of the tokens that the document selects', async () => {
      const query = LOGIN.replace('access_token expires', '');
      const variables = { email: person.email, password: person.password };
      const { auth_login: tokens } = await dataOf(ask(null, query, variables));
      expect(tokens).to.have.all.keys('refresh_token');
    });

    it('keeps the refresh token in a cookie with mode cookie', async () => {
      const reply = await login({ mode: 'cookie' });
      expect(reply.body.data.auth_login).to.have.keys('access_token', 'expires', 'refresh_token');
      expect(reply.body.data.auth_login.refresh_token).to.equal(null);
      const [cookie = ''] = reply.headers.getSetCookie();
      expect(cookie).to.match(/^service_refresh_token=[\w-]{64}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
      const renewed = await refresh(undefined, cookie.split(';', 1)[0]);
      expect(renewed.body.data.auth_refresh.refresh_token).to.equal(null);
      expect(renewed.headers.getSetCookie()[0]).to.match(/^service_refresh_token=[\w-]{64};/);
      const next = renewed.headers.getSetCookie()[0]?.split(';', 1)[0];
      const out = await ask(null, 'mutation { auth_logout }', undefined, { headers: { cookie: next as string } });
      expect(out.body.data).to.deep.equal({ auth_logout: true });
      expect(out.headers.getSetCookie()[0]).to.match(/^service_refresh_token=; Max-Age=0;/);
      expect(codesOf(await refresh(undefined, next))).to.deep.equal([WRONG]);
    });

    it('accepts one attempt in a request', async () => {
      const { refresh_token: token } = (await login()).body.data.auth_login;
      const attempt = (name: string, password: string) =>
        `${name}: auth_login(email: "${person.email}", password: "${password}") { access_token }`;
      for (const second of [attempt('b', person.password), `auth_refresh(refresh_token: "${token}") { expires }`]) {
        const reply = await ask(null, `mutation { ${attempt('a', 'guess')} ${second} }`);
        expect([reply.status, reply.body.data]).to.deep.equal([400, undefined]);
      }
      expect(codesOf(await refresh(token))).to.deep.equal([]);
    });

    it('refuses what POST /auth/login refuses', async () => {
      expect((await login({ password: 'wrong' })).body).to.deep.include({ data: { auth_login: null } });
      expect(codesOf(await login({ password: 'wrong' }))).to.deep.equal([WRONG]);
      expect(codesOf(await login({ email: 'unknown@example.com' }))).to.deep.equal([WRONG]);
      expect(codesOf(await refresh('unknown'))).to.deep.equal([WRONG]);
      expect(codesOf(await refresh(undefined))).to.deep.equal([WRONG]);
      const out = await ask(null, 'mutation { auth_logout }');
      expect([out.body.data, codesOf(out)]).to.deep.equal([{ auth_logout: null }, [WRONG]]);
      await absent(null, 'mutation { auth_login(email: "a@b.c", password: "x", mode: session) { expires } }');
      await absent(null, `mutation { auth_login(email: "a@b.c") { expires } }`);
    });

    it('auth_logout ends the session', async () => {
      const { refresh_token: token } = (await login()).body.data.auth_login;
      const out = 'mutation ($token: String) { auth_logout(refresh_token: $token) }';
      expect(await dataOf(ask(null, out, { token }))).to.deep.equal({ auth_logout: true });
      expect(codesOf(await refresh(token))).to.deep.equal([WRONG]);
    });

    it('auth_login is recorded in the activity', async () => {
      const before = await service.database.query("select id from platform_activity where action = 'login'");
      await dataOf(login());
      const rows = await service.database.query<{ user: string }>(
        `select "user" from platform_activity where action = 'login' order by id desc`,
      );
      expect([rows.length, rows[0]?.user]).to.deep.equal([before.length + 1, person.id]);
    });
  });

  describe('server_info and server_health', () => {
    const INFO = `{ server_ping server_health server_info {
      project { project_name default_language project_logo } rateLimit { points duration } rateLimitGlobal { points duration }
      websocket { rest { authentication path } graphql { authentication path } heartbeat }
      queryLimit { default max } service { version }
    } }`;

    it('server_info and server_health answer as much as the caller may know', async () => {
      const project = { project_name: 'Tenon', default_language: 'en-US', project_logo: null };
      const nothing = { rateLimit: null, rateLimitGlobal: null, websocket: null, queryLimit: null, service: null };
      // A signed-in caller sees null for the disabled `rateLimit`, where REST answers false.
      const level = {
        queryLimit: { default: 100, max: 500 },
      };
      const publicInfo = await dataOf(ask(null, INFO));
      expect(publicInfo).to.deep.equal({
        server_ping: 'pong',
        server_health: { status: 'ok' },
        server_info: { project, ...nothing },
      });
      const someone = await dataOf(ask(person.token, INFO));
      expect(someone.server_info).to.deep.equal({ project, ...nothing, ...level });
      const admin = await dataOf(ask(service.admin.token, INFO));
      expect(admin.server_info.service.version).to.match(/^\d+\.\d+\.\d+/);
      expect(admin.server_health).to.have.keys('status', 'releaseId', 'serviceId', 'checks');
    });
  });

  describe('users_me', () => {
    const UPDATE = 'mutation ($data: update_platform_users_input!) { update_users_me(data: $data) { id title } }';

    it('reads and updates the own user under the permissions of the caller', async () => {
      expect(await dataOf(ask(person.token, '{ users_me { id email } roles_me { id } }'))).to.deep.equal({
        users_me: { id: person.id, email: person.email },
        roles_me: { id: role },
      });
      expect(await dataOf(ask(person.token, UPDATE, { data: { title: 'Captain' } }))).to.deep.equal({
        update_users_me: { id: person.id, title: 'Captain' },
      });
      expect((await service.request('GET', '/users/me?fields=title', { token: person.token })).body.data).to.deep.equal(
        {
          title: 'Captain',
        },
      );
    });

    it('users_me is FORBIDDEN without a token, and has no role for a user without one', async () => {
      const open = await makeRole(service);
      const reader = await createTestUserAccount(service, open);
      await absent(reader.token, '{ users_me { id } }');
      await absent(reader.token, '{ roles_me { id } }');
      const userWithoutRole = await createTestUserAccount(service, null as never);
      const grants: number[] = [];
      for (const collection of ['platform_users', 'platform_roles'])
        grants.push(await createTestPermission(service, null, { collection, action: 'read', fields: ['id'] }));
      for (const query of ['{ users_me { id } }', '{ roles_me { id } }']) {
        expect(codesOf(await ask(null, query)), query).to.deep.equal([WRONG]);
      }
      expect(await dataOf(ask(userWithoutRole.token, '{ users_me { id } roles_me { id } }'))).to.deep.equal({
        users_me: { id: userWithoutRole.id },
        roles_me: null,
      });
      await service.request('DELETE', '/permissions', { token: service.admin.token, body: grants });
    });

    it('users_me cannot be updated by a caller without a permission to update users', async () => {
      const reader = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
      await absent(reader.token, 'mutation { update_users_me(data: { title: "Captain" }) { id } }');
    });
  });
});
