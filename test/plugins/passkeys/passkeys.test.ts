import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type InProcessService, startService, TEST_SECRET } from '../../support/service.ts';
import type { CborValue } from '../../support/software-authenticator.ts';
import { makeRole, statusAndCodeOf } from '../users/test-users.ts';
import {
  authenticator,
  beginRegistration,
  beginSignIn,
  createSignedInUser,
  PASSKEY_SETTINGS,
  registerPasskey,
  type SignedInUser,
  signInByPasskey,
} from './passkey-fixture.ts';

describe('passkeys', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let request: InProcessService['request'];
  let user: SignedInUser;

  before(async () => {
    service = await startService({ env: PASSKEY_SETTINGS });
    request = service.request;
  });
  beforeEach(async () => {
    user = await createSignedInUser(service);
  });
  after(() => service?.stop());

  const asAdmin = (method: string, path: string, body?: unknown) =>
    request(method, path, { token: service.admin.token, body });
  const list = async () => (await request('GET', '/users/me/passkeys', { token: user.token })).body.data;
  const begin = (body: unknown, token: string | null = user.token) =>
    request('POST', '/users/me/passkeys/options', { token, body });

  describe('a registration', () => {
    it('begins with options for a discoverable passkey of this user that verifies the user', async () => {
      const first = await registerPasskey(request, user);
      const options = await beginRegistration(request, user);
      expect(options.rp).to.deep.equal({ id: 'localhost', name: 'Tenon' });
      expect(options.user).to.deep.equal({
        id: Buffer.from(user.id.replaceAll('-', ''), 'hex').toString('base64url'),
        name: user.email,
        displayName: user.email,
      });
      expect(options.authenticatorSelection).to.include({ residentKey: 'required', userVerification: 'required' });
      expect(options.attestation).to.equal('none');
      expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).to.deep.equal([-7, -8, -257]);
      expect(options.excludeCredentials).to.deep.equal([
        { id: first.id, type: 'public-key', transports: ['hybrid', 'internal'] },
      ]);
    });

    it('ends with a passkey that the list shows, without its public key', async () => {
      const before = Date.now() - 1000;
      const { id, key } = await registerPasskey(request, user, { name: '  My phone ', flags: 0x5d });
      const [listed, ...more] = await list();
      expect(more).to.deep.equal([]);
      expect(listed).to.deep.include({
        id: key,
        name: 'My phone',
        credential: id,
        transports: ['hybrid', 'internal'],
        synced: true,
        backed_up: true,
        last_used: null,
      });
      expect(Date.parse(listed.date_created)).to.be.within(before, Date.now() + 1000);
      expect(Object.keys(listed)).to.have.length(8);
    });

    it('takes several passkeys of a user, each for itself, and 20 at most', async () => {
      const [first, second] = [await registerPasskey(request, user), await registerPasskey(request, user)];
      for (const passkey of [first, second]) expect((await signInByPasskey(request, passkey)).status).to.equal(200);
      for (let left = 18; left > 0; left--) await registerPasskey(request, user);
      const { credential } = authenticator.register(await beginRegistration(request, user));
      const reply = await request('POST', '/users/me/passkeys', { token: user.token, body: { credential } });
      expect(statusAndCodeOf(reply)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(await list()).to.have.length(20);
    });

    it('takes 20 passkeys at most also where the registrations end at the same time', async () => {
      for (let left = 18; left > 0; left--) await registerPasskey(request, user);
      const options = await Promise.all(Array.from({ length: 6 }, () => beginRegistration(request, user)));
      const replies = await Promise.all(
        options.map((one) =>
          request('POST', '/users/me/passkeys', {
            token: user.token,
            body: { credential: authenticator.register(one).credential },
          }),
        ),
      );
      expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 200, 400, 400, 400, 400]);
      expect(await list()).to.have.length(20);
    });

    it('needs the password of a user who has one', async () => {
      expect(statusAndCodeOf(await begin({}))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(statusAndCodeOf(await begin({ password: 1 }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(statusAndCodeOf(await begin({ password: 'wrong' }))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect(statusAndCodeOf(await begin({ password: user.password }, null))).to.deep.equal([
        401,
        'INVALID_CREDENTIALS',
      ]);
    });

    it('takes no static token, neither to begin nor to end nor to change a passkey', async () => {
      const passkey = await registerPasskey(request, user);
      const { credential } = authenticator.register(await beginRegistration(request, user));
      const token = `static-${user.id}`;
      await asAdmin('PATCH', `/users/${user.id}`, { token });
      const path = `/users/me/passkeys/${passkey.key}`;
      for (const [method, at, body] of [
        ['POST', '/users/me/passkeys/options', { password: user.password }],
        ['POST', '/users/me/passkeys', { credential }],
        ['PATCH', path, { name: 'x' }],
        ['DELETE', path, undefined],
      ] as const)
        expect(statusAndCodeOf(await request(method, at, { token, body })), method).to.deep.equal([403, 'FORBIDDEN']);
      expect((await request('GET', '/users/me/passkeys', { token })).body.data).to.have.length(1);
    });

    it('counts wrong passwords as attempts to sign in, and suspends the user after auth_login_attempts', async () => {
      await asAdmin('PATCH', '/settings', { auth_login_attempts: 3 });
      try {
        for (let left = 3; left > 0; left--)
          expect(statusAndCodeOf(await begin({ password: 'wrong' }))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
        expect(statusAndCodeOf(await begin({ password: user.password }))).to.deep.equal([401, 'USER_SUSPENDED']);
      } finally {
        await asAdmin('PATCH', '/settings', { auth_login_attempts: null });
      }
    });

    it('needs a recent sign-in of a user without a password, and of one with a second factor', async () => {
      const refresh = async (refresh_token: string) =>
        (await request('POST', '/auth/refresh', { body: { refresh_token } })).body.data;
      const signedIn = await request('POST', '/auth/login', { body: { email: user.email, password: user.password } });
      const fresh = await refresh(signedIn.body.data.refresh_token);
      await service.database.query(
        `update platform_sessions set created = now() - interval '301 seconds' where "user" = $1`,
        [user.id],
      );
      const { access_token: token } = await refresh((await refresh(fresh.refresh_token)).refresh_token);
      expect((await begin({ password: user.password }, token)).status).to.equal(200);

      for (const change of [
        "tfa_secret = 'any'",
        "tfa_secret = null, provider = 'corporate'",
        "provider = 'default', password = null",
      ]) {
        await service.database.query(`update platform_users set ${change} where id = $1`, [user.id]);
        const refused = await begin({ password: user.password }, token);
        expect(statusAndCodeOf(refused), change).to.deep.equal([401, 'INVALID_CREDENTIALS']);
        expect(refused.body.errors[0].extensions.reason).to.equal('recent_sign_in_required');
        for (const recent of [user.token, fresh.access_token])
          expect((await begin({ password: user.password }, recent)).status, change).to.equal(200);
      }
      // The claim `auth_time` decides.
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        id: user.id,
        role: null,
        app_access: false,
        admin_access: false,
        iss: 'service',
        exp: now + 600,
      };
      for (const [auth_time, status] of [
        [now - 240, 200],
        [now - 301, 401],
        [String(now), 401],
        [null, 401],
      ] as const)
        expect((await begin({}, jwt.sign({ ...claims, auth_time }, TEST_SECRET))).status, String(auth_time)).to.equal(
          status,
        );
      // Users without a password need none.
      expect((await begin({})).status).to.equal(200);
    });

    it('that began before the password was changed is refused', async () => {
      const { credential } = authenticator.register(await beginRegistration(request, user));
      await asAdmin('PATCH', `/users/${user.id}`, { password: 'another password' });
      const reply = await request('POST', '/users/me/passkeys', { token: user.token, body: { credential } });
      expect(statusAndCodeOf(reply)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect(await list()).to.deep.equal([]);
    });
  });

  describe('a sign-in', () => {
    it('asks for no e-mail address and no passkeys, and shows when the passkey was used', async () => {
      const passkey = await registerPasskey(request, user);
      const options = await beginSignIn(request);
      expect(options).to.include({ rpId: 'localhost', userVerification: 'required' });
      expect(options.allowCredentials).to.deep.equal([]);
      const body = { credential: authenticator.signIn(options, passkey) };
      const reply = await request('POST', '/auth/login/passkey', { body });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      expect(reply.body.data).to.have.keys('access_token', 'refresh_token', 'expires');
      const me = await request('GET', '/users/me?fields=id', { token: reply.body.data.access_token });
      expect(me.body.data.id).to.equal(user.id);
      expect(Date.parse((await list())[0].last_used)).to.be.within(Date.now() - 60_000, Date.now() + 1000);
    });

    it('puts the refresh token into the cookie in mode cookie', async () => {
      const reply = await signInByPasskey(request, await registerPasskey(request, user), {}, { mode: 'cookie' });
      expect(reply.body.data).to.have.keys('access_token', 'expires');
      expect(reply.headers.getSetCookie()[0]).to.match(/^service_refresh_token=[\w-]{64};/);
    });

    it('is not among the providers of GET /auth, since it is for users of all of them', async () => {
      expect((await request('GET', '/auth')).body.data).to.deep.equal([]);
    });

    it('counts as both factors: a user with a second factor needs no one-time password', async () => {
      const passkey = await registerPasskey(request, user);
      await service.database.query("update platform_users set tfa_secret = 'any' where id = $1", [user.id]);
      const byPassword = await request('POST', '/auth/login', { body: { email: user.email, password: user.password } });
      expect(statusAndCodeOf(byPassword)).to.deep.equal([401, 'INVALID_OTP']);
      expect((await signInByPasskey(request, passkey)).status).to.equal(200);
    });

    it('signs in users of every provider', async () => {
      const passkey = await registerPasskey(request, user);
      // By SQL: the API ends the passkeys of a user who moves to another provider.
      const sql = 'update platform_users set provider = $2, external_identifier = $3 where id = $1';
      await service.database.query(sql, [user.id, 'corporate', `cn=${user.id}`]);
      expect((await signInByPasskey(request, passkey)).status).to.equal(200);
    });

    it('rejects users who are not active, from an address that the role does not allow, or deleted', async () => {
      const passkey = await registerPasskey(request, user);
      await asAdmin('PATCH', `/users/${user.id}`, { status: 'suspended' });
      expect(statusAndCodeOf(await signInByPasskey(request, passkey))).to.deep.equal([401, 'USER_SUSPENDED']);
      const role = await makeRole(service, { ip_access: '192.0.2.1' });
      await asAdmin('PATCH', `/users/${user.id}`, { status: 'active', role });
      expect(statusAndCodeOf(await signInByPasskey(request, passkey))).to.deep.equal([401, 'INVALID_IP']);
      await asAdmin('DELETE', `/users/${user.id}`);
      expect(statusAndCodeOf(await signInByPasskey(request, passkey))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      const left = await service.database.query('select 1 from platform_passkeys where id = $1', [passkey.key]);
      expect(left).to.deep.equal([]);
    });

    it('takes keys of EdDSA and of RS256 beside those of ES256', async () => {
      const edwards = generateKeyPairSync('ed25519');
      const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const [{ x }, { n, e }] = [edwards, rsa].map(({ publicKey }) => publicKey.export({ format: 'jwk' })) as [
        Record<string, string>,
        Record<string, string>,
      ];
      const bytes = (text: string | undefined) => Buffer.from(text as string, 'base64url');
      for (const [signer, publicKey] of [
        [
          edwards.privateKey,
          new Map<number, CborValue>([
            [1, 1],
            [3, -8],
            [-1, 6],
            [-2, bytes(x)],
          ]),
        ],
        [
          rsa.privateKey,
          new Map<number, CborValue>([
            [1, 3],
            [3, -257],
            [-1, bytes(n)],
            [-2, bytes(e)],
          ]),
        ],
      ] as const) {
        const passkey = await registerPasskey(request, user, { publicKey });
        expect((await signInByPasskey(request, passkey, { signer })).status, signer.asymmetricKeyType).to.equal(200);
        expect((await signInByPasskey(request, passkey)).status, signer.asymmetricKeyType).to.equal(401);
      }
    });

    it('takes counters that stay at 0 and counters that rise', async () => {
      const still = await registerPasskey(request, user);
      for (let left = 2; left > 0; left--)
        expect((await signInByPasskey(request, still, { counter: 0 })).status).to.equal(200);
      const rising = await registerPasskey(request, user);
      for (const counter of [1, 7, 4_294_967_295])
        expect((await signInByPasskey(request, rising, { counter })).status, String(counter)).to.equal(200);
    });

    it('leaves a session and an activity row of the user, and nothing of a failed one', async () => {
      const passkey = await registerPasskey(request, user);
      const rows = () =>
        service.database.query(`select 1 from platform_activity where action = 'login' and "user" = $1`, [user.id]);
      const sessions = () => service.database.query('select 1 from platform_sessions where "user" = $1', [user.id]);
      const [before, open] = [(await rows()).length, (await sessions()).length];
      expect((await signInByPasskey(request, passkey, { origin: 'https://evil.example' })).status).to.equal(401);
      expect([(await rows()).length, (await sessions()).length]).to.deep.equal([before, open]);
      expect((await signInByPasskey(request, passkey)).status).to.equal(200);
      expect([(await rows()).length, (await sessions()).length]).to.deep.equal([before + 1, open + 1]);
    });
  });

  describe('a change', () => {
    it('of the name is shown by the list', async () => {
      const { key } = await registerPasskey(request, user);
      const path = `/users/me/passkeys/${key}`;
      const renamed = await request('PATCH', path, { token: user.token, body: { name: 'Key ring' } });
      expect(renamed.body.data).to.include({ id: key, name: 'Key ring' });
      expect((await list())[0].name).to.equal('Key ring');
      for (const name of ['', '  ', 'x'.repeat(101), 'a\nb', 'a\0b', 1, null, undefined])
        expect(
          statusAndCodeOf(await request('PATCH', path, { token: user.token, body: { name } })),
          JSON.stringify(name),
        ).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('that removes a passkey ends signing in by it at once', async () => {
      const [kept, removed] = [await registerPasskey(request, user), await registerPasskey(request, user)];
      const options = await beginSignIn(request);
      const path = `/users/me/passkeys/${removed.key}`;
      expect((await request('DELETE', path, { token: user.token })).status).to.equal(204);
      const credential = authenticator.signIn(options, removed);
      const reply = await request('POST', '/auth/login/passkey', { body: { credential } });
      expect(statusAndCodeOf(reply)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect((await signInByPasskey(request, kept)).status).to.equal(200);
      expect(statusAndCodeOf(await request('DELETE', path, { token: user.token }))).to.deep.equal([403, 'FORBIDDEN']);
    });

    it('of a passkey of another user is FORBIDDEN, as of one that there is not', async () => {
      const { key } = await registerPasskey(request, user);
      const { token } = await createSignedInUser(service);
      for (const id of [key, crypto.randomUUID(), 'x', "'"]) {
        const path = `/users/me/passkeys/${encodeURIComponent(id)}`;
        const renamed = await request('PATCH', path, { token, body: { name: 'mine' } });
        expect(statusAndCodeOf(renamed), id).to.deep.equal([403, 'FORBIDDEN']);
        expect(statusAndCodeOf(await request('DELETE', path, { token })), id).to.deep.equal([403, 'FORBIDDEN']);
      }
      expect(await list()).to.have.length(1);
    });

    it('is made by admins for any user, and by no other user', async () => {
      const [first, second, third] = [
        await registerPasskey(request, user),
        await registerPasskey(request, user),
        await registerPasskey(request, user),
      ];
      const path = `/users/${user.id}/passkeys`;
      const { token } = await createSignedInUser(service);
      for (const other of [token, user.token])
        for (const [method, at] of [
          ['GET', path],
          ['DELETE', path],
          ['DELETE', `${path}/${first.key}`],
        ] as const)
          expect(statusAndCodeOf(await request(method, at, { token: other })), method).to.deep.equal([
            403,
            'FORBIDDEN',
          ]);
      expect((await asAdmin('GET', path)).body.data.map(({ id }: { id: string }) => id)).to.have.members([
        first.key,
        second.key,
        third.key,
      ]);
      expect((await asAdmin('DELETE', `${path}/${first.key}`)).status).to.equal(204);
      expect((await signInByPasskey(request, first)).status).to.equal(401);
      expect((await signInByPasskey(request, second)).status).to.equal(200);
      expect(statusAndCodeOf(await asAdmin('DELETE', `${path}/${first.key}`))).to.deep.equal([403, 'FORBIDDEN']);
      expect((await asAdmin('DELETE', path)).status).to.equal(204);
      expect((await asAdmin('GET', path)).body.data).to.deep.equal([]);
      expect((await signInByPasskey(request, third)).status).to.equal(401);
      expect((await asAdmin('GET', '/users/x/passkeys')).body.data).to.deep.equal([]);
    });

    it('of any kind is recorded in the activity, with its author and without secrets', async () => {
      const { key, id } = await registerPasskey(request, user, { name: 'Phone' });
      await request('PATCH', `/users/me/passkeys/${key}`, { token: user.token, body: { name: 'Laptop' } });
      await asAdmin('DELETE', `/users/${user.id}/passkeys/${key}`);
      const rows = await service.database.query<Record<string, unknown>>(
        "select * from platform_activity where collection = 'platform_passkeys' and item = $1 order by id",
        [key],
      );
      expect(rows.map(({ action, comment }) => [action, comment])).to.deep.equal(
        ['create', 'update', 'delete'].map((action) => [action, `of user ${user.id}`]),
      );
      expect(rows.map((row) => row.user === user.id)).to.deep.equal([true, true, false]);
      expect(JSON.stringify(rows)).not.to.contain(id);
    });
  });
});
