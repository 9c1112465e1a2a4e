import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type Host, isCaller, middleware, type RequestState } from '#kernel';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, TEST_SECRET } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  type TestUserAccount,
} from '../users/test-users.ts';
import { type AuthFixture, callerSummaryOf, startAuthFixture } from './auth-fixture.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const CLIENT = { ip: '192.0.2.7', userAgent: 'mail', origin: null };

describe('the service identity', () => {
  let database: FreshDatabase;
  let ground: AuthFixture;
  let admin: SendAsUser;
  let role: string;
  let person: TestUserAccount;

  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('identity');
    ground = await startAuthFixture({ database });
    admin = createUserSender(ground.service, ground.service.admin.token);
    role = await makeRole(ground.service, { app_access: true });
  });
  beforeEach(async () => {
    person = await createTestUserAccount(ground.service, role);
  });
  after(async () => {
    await ground?.stop();
    await database?.drop();
  });

  const codeOf = async (run: Promise<unknown>) => (await captureError(run)).code;
  const accessToken = async () => {
    const { email, password } = person;
    return (await ground.service.request('POST', '/auth/login', { body: { email, password } })).body.data.access_token;
  };

  describe('ofToken', () => {
    it('answers the caller of a static token and of an access token', async () => {
      for (const token of [person.token, await accessToken()]) {
        const caller = await ground.identity.ofToken(token, CLIENT);
        expect(isCaller(caller)).to.equal(true);
        expect(callerSummaryOf(caller)).to.deep.equal({
          user: person.id,
          role,
          admin: false,
          app: true,
          ip: CLIENT.ip,
        });
        expect(caller.userAgent).to.equal('mail');
      }
    });

    it('does not remember a status that is rolled back', async () => {
      const token = await accessToken();
      const { db, identity } = ground;
      const activate = db.sql`update ${db.write('platform_users')} set status = 'active' where id = $1`;
      await admin('PATCH', `/users/${person.id}`, { status: 'suspended' });
      const transaction = db.transaction(async () => {
        await db.query(activate, [person.id]);
        expect((await identity.ofToken(token, CLIENT)).user).to.equal(person.id);
        throw new Error('undone');
      });
      expect((await captureError<Error>(transaction)).message).to.equal('undone');
      expect(await codeOf(identity.ofToken(token, CLIENT))).to.equal('USER_SUSPENDED');
    });

    it('leaves out what is not known of the client', async () => {
      const { ip, userAgent, origin } = await ground.identity.ofToken(person.token);
      expect([ip, userAgent, origin]).to.deep.equal([undefined, undefined, undefined]);
    });

    it('refuses expired, forged and unknown tokens with the codes of a request', async () => {
      const claims = { id: person.id, role, app_access: true, admin_access: false, iss: 'service' };
      const cases: readonly (readonly [string, string])[] = [
        [jwt.sign({ ...claims, exp: 1 }, TEST_SECRET), 'TOKEN_EXPIRED'],
        [jwt.sign(claims, 'another', { expiresIn: 60 }), 'INVALID_TOKEN'],
        ['unknown', 'INVALID_CREDENTIALS'],
        ['a\0b', 'INVALID_CREDENTIALS'],
      ];
      for (const [token, code] of cases) expect(await codeOf(ground.identity.ofToken(token))).to.equal(code);
    });

    it('refuses tokens of users who are suspended or deleted', async () => {
      const tokens = [person.token, await accessToken()];
      await admin('PATCH', `/users/${person.id}`, { status: 'suspended' });
      for (const token of tokens) expect(await codeOf(ground.identity.ofToken(token))).to.equal('USER_SUSPENDED');
      await admin('DELETE', `/users/${person.id}`);
      for (const token of tokens) expect(await codeOf(ground.identity.ofToken(token))).to.equal('INVALID_CREDENTIALS');
    });

    it('rejects addresses that the role does not allow', async () => {
      const bound = await makeRole(ground.service, { ip_access: CLIENT.ip });
      const { token } = await createTestUserAccount(ground.service, bound);
      expect((await ground.identity.ofToken(token, CLIENT)).role).to.equal(bound);
      expect(await codeOf(ground.identity.ofToken(token, { ip: '192.0.2.8' }))).to.equal('INVALID_IP');
      expect(await codeOf(ground.identity.ofToken(token))).to.equal('INVALID_IP');
    });
  });

  describe('ofUser', () => {
    it('answers an active user with the flags that the role has at this moment', async () => {
      const caller = await ground.identity.ofUser(person.id, CLIENT);
      expect(callerSummaryOf(caller)).to.deep.equal({ user: person.id, role, admin: false, app: true, ip: CLIENT.ip });
      const other = await makeRole(ground.service, { admin_access: true });
      await admin('PATCH', `/users/${person.id}`, { role: other });
      expect(callerSummaryOf(await ground.identity.ofUser(person.id))).to.deep.equal({
        user: person.id,
        role: other,
        admin: true,
        app: true,
        ip: undefined,
      });
      expect(isCaller(caller)).to.equal(true);
    });

    it('refuses unknown ids and users who are not active', async () => {
      for (const id of [UNKNOWN, 'no-uuid', '', 'a\0'])
        expect(await codeOf(ground.identity.ofUser(id)), id).to.equal('INVALID_CREDENTIALS');
      await admin('PATCH', `/users/${person.id}`, { status: 'archived' });
      expect(await codeOf(ground.identity.ofUser(person.id))).to.equal('USER_SUSPENDED');
    });
  });

  describe('ofUsers', () => {
    it('answers active users and leaves out all others', async () => {
      const suspended = await createTestUserAccount(ground.service, role, { status: 'suspended' });
      const callers = await ground.identity.ofUsers([suspended.id, person.id, UNKNOWN, 'no-uuid']);
      expect([...callers].map(([id, { user }]) => [id, user])).to.deep.equal([[person.id, person.id]]);
      expect([...(await ground.identity.ofUsers([]))]).to.deep.equal([]);
    });
  });

  describe('ofPublic', () => {
    it('answers a caller without user and rights', async () => {
      const caller = await ground.identity.ofPublic(CLIENT);
      expect(isCaller(caller)).to.equal(true);
      expect(callerSummaryOf(caller)).to.deep.equal({
        user: null,
        role: null,
        admin: false,
        app: false,
        ip: CLIENT.ip,
      });
      expect((await ground.identity.ofPublic()).user).to.equal(null);
    });
  });

  it('the ledger counts each caller by its evidence', async () => {
    const counted = () =>
      new Map(
        ground.service.kernel.ledger
          .entries()
          .filter(({ kind, plugin }) => kind === 'identity' && plugin === '@tenon/auth')
          .map(({ what, count }) => [what, count]),
      );
    const before = counted();
    await ground.identity.ofToken(person.token);
    await ground.identity.ofUser(person.id);
    await ground.identity.ofPublic();
    const after = counted();
    for (const what of ['token', 'user', 'public'])
      expect((after.get(what) ?? 0) - (before.get(what) ?? 0), what).to.equal(1);
  });

  it('the middleware runs after the phase limit and before the phase cache', async () => {
    const seen: unknown[] = [];
    const phases = ['cache', 'limit'] as const;
    const unload = await ground.load({
      name: 'watcher',
      manifest: { contributes: { 'http.middleware': { phases } } },
      register(host: Host) {
        for (const phase of phases) {
          host.contribute(middleware, {
            name: phase,
            phase,
            handle(ctx, next) {
              seen.push([phase, (ctx.state as RequestState).caller.user]);
              return next();
            },
          });
        }
      },
    });
    try {
      expect((await person.ask('GET', '/users/me')).status).to.equal(200);
      expect(seen).to.deep.equal([
        ['limit', null],
        ['cache', person.id],
      ]);
    } finally {
      await unload();
    }
  });

  it('third-party plugins cannot use it', async () => {
    const error = await captureError(
      ground.load({
        name: 'impersonator',
        manifest: { uses: { identity: '^1.0.0' } },
        register: (host) => void host.use({ identity: { id: 'identity', version: '1.0.0' } }),
      }),
    );
    expect(error.message).to.contain('open to core plugins only');
    expect(ground.left('impersonator')).to.deep.equal({ facets: 0, listeners: 0 });
  });
});
