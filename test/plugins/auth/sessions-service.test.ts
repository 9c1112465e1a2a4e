import { expect } from 'chai';
import type { Host } from '#kernel';
import {
  type AuthDriver,
  type RedirectSignInDriver,
  type SessionService,
  sessions as sessionsKey,
} from '../../../plugins/auth/contract.ts';
import { createCaller, publicCaller } from '../../support/caller.ts';
import type { FreshDatabase } from '../../support/database.ts';
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

const NAME = 'third-party-openid';
const CALLER = publicCaller({ ip: '192.0.2.7', userAgent: 'browser', origin: null });

describe('the service sessions', () => {
  let database: FreshDatabase;
  let ground: AuthFixture;
  let admin: SendAsUser;
  let person: TestUserAccount;
  let driver: { -readonly [K in keyof RedirectSignInDriver]: RedirectSignInDriver[K] };
  /** The service `sessions` as the third-party plugin gets it by `host.use`. */
  let sessions: SessionService;
  let unload: () => Promise<void>;

  const openid: TestPlugin = {
    name: NAME,
    manifest: { uses: { sessions: '^1.0.0' }, contributes: { 'auth.drivers': { names: ['openid'] } } },
    register(host: Host) {
      sessions = host.use({ sessions: sessionsKey }).sessions;
      host.contribute<AuthDriver>('auth.drivers', driver);
    },
  };

  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('sessions');
    ground = await startAuthFixture({ database });
    admin = createUserSender(ground.service, ground.service.admin.token);
  });
  beforeEach(async () => {
    driver = { kind: 'redirect', name: 'openid', provider: 'google' };
    person = await createTestUserAccount(ground.service, await makeRole(ground.service, { app_access: true }));
    await admin('PATCH', `/users/${person.id}`, { provider: 'google', external_identifier: `sub-${person.id}` });
    unload = await ground.load(openid);
  });
  afterEach(() => unload());
  after(async () => {
    await ground?.stop();
    await database?.drop();
  });

  const refresh = (token: string) =>
    ground.service.request('POST', '/auth/refresh', { body: { refresh_token: token } });
  const open = () => sessions.open(CALLER, driver, { externalIdentifier: `sub-${person.id}` });
  const codeOf = async (run: Promise<unknown> | (() => unknown)) => (await captureError(run)).code;

  it('open() opens a session for the user that a contributed driver names', async () => {
    for (const signedIn of [{ user: person.id }, { externalIdentifier: `sub-${person.id}` }]) {
      const tokens = await sessions.open(CALLER, driver, signedIn);
      expect(tokens.expires).to.equal(900_000);
      const me = await ground.service.request('GET', '/users/me?fields=id', { token: tokens.accessToken });
      expect(me.body.data).to.deep.equal({ id: person.id });
      expect((await refresh(tokens.refreshToken)).status).to.equal(200);
    }
    const rows = await database.query<{ ip: string }>(
      'select ip from platform_activity where "user" = $1 and action = $2',
      [person.id, 'login'],
    );
    expect(rows.map(({ ip }) => ip)).to.deep.equal(['192.0.2.7', '192.0.2.7']);
  });

  it('open() opens no session where a filter of auth.login or a step rejects', async () => {
    const stop = ground.events.onFilter('auth.login', (payload, { user, provider }) => {
      expect({ payload, user, provider }).to.deep.equal({ payload: {}, user: person.id, provider: 'google' });
      throw Object.assign(new Error('no'), { code: 'REFUSED' });
    });
    try {
      await captureError(open());
    } finally {
      stop();
    }
    await admin('PATCH', `/users/${person.id}`, { status: 'suspended' });
    expect(await codeOf(open())).to.equal('USER_SUSPENDED');
    expect(await database.query('select 1 from platform_sessions where "user" = $1', [person.id])).to.deep.equal([]);
  });

  it('open() rejects users of other providers and unknown users', async () => {
    const other = await createTestUserAccount(ground.service, person.role);
    expect(await codeOf(sessions.open(CALLER, driver, { user: other.id }))).to.equal('INVALID_PROVIDER');
    // Later changes of the contributed driver object have no effect.
    driver.provider = 'default';
    driver.anyProvider = true;
    expect(await codeOf(sessions.open(CALLER, driver, { user: other.id }))).to.equal('INVALID_PROVIDER');
    for (const signedIn of [{ externalIdentifier: 'unknown' }, { user: 'no-uuid' }, { externalIdentifier: 'a\0b' }])
      expect(await codeOf(sessions.open(CALLER, driver, signedIn))).to.equal('INVALID_CREDENTIALS');
  });

  it('open() accepts only the driver object that is contributed now', async () => {
    expect(await codeOf(sessions.open(CALLER, { ...driver }, { user: person.id }))).to.equal('CAPABILITY_DENIED');
    await unload();
    expect(await codeOf(open())).to.equal('CAPABILITY_DENIED');
    expect(ground.left(NAME)).to.deep.equal({ facets: 0, listeners: 0 });
  });

  it('open() and refresh() reject callers that the kernel did not create', async () => {
    const written = { ...createCaller() } as typeof CALLER;
    expect(await codeOf(() => sessions.open(written, driver, { user: person.id }))).to.equal('CAPABILITY_DENIED');
    expect(await codeOf(() => sessions.refresh(written, 'token'))).to.equal('CAPABILITY_DENIED');
  });

  it('refresh() exchanges a refresh token once', async () => {
    const { refreshToken } = await open();
    const next = await sessions.refresh(CALLER, refreshToken);
    expect(next.refreshToken)
      .to.match(/^[\w-]{64}$/)
      .and.not.equal(refreshToken);
    expect(await codeOf(sessions.refresh(CALLER, refreshToken))).to.equal('INVALID_CREDENTIALS');
  });

  it('close() ends one session by its token, closeOf() all sessions of users', async () => {
    const [first, second, third] = [await open(), await open(), await open()];
    await sessions.close(first.refreshToken);
    expect(statusAndCodeOf(await refresh(first.refreshToken))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    await sessions.closeOf([person.id]);
    for (const { refreshToken } of [second, third])
      expect(statusAndCodeOf(await refresh(refreshToken))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
  });
});
