import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { HttpReply } from '../support/send.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createSharer, prepareShareTables, signInByShare } from './share-fixture.ts';
import { requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const STALL = 300;
const past = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const future = (seconds: number) => past(-seconds);

describe('POST /shares/auth', () => {
  let service: InProcessService;
  let sharer: TestUserWithToken;

  before(async function () {
    this.timeout(120_000);
    service = await startService({ env: { LOGIN_STALL_TIME: String(STALL), IP_TRUST_PROXY: 'true' } });
    await prepareShareTables(service);
    sharer = await createSharer(service);
  });
  after(() => service?.stop());

  const shareAsAdmin = async (more: object = {}): Promise<string> =>
    (await requestAsAdmin(service, 'POST', '/shares', { collection: 'article', item: 1, role: sharer.role, ...more }))
      .id;
  const codeOf = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions?.code];

  it('answers tokens with the claims of a visitor, and counts the use', async () => {
    const share = await shareAsAdmin({ password: 'open sesame' });
    const { status, body, headers } = await signInByShare(service, share, { password: 'open sesame' });
    expect([status, Object.keys(body.data).sort(), body.data.expires]).to.deep.equal([
      200,
      ['access_token', 'expires', 'refresh_token'],
      900_000,
    ]);
    expect(headers.get('cache-control')).to.equal('no-store');
    const claims = JSON.parse(Buffer.from(body.data.access_token.split('.')[1], 'base64url').toString());
    expect(claims).to.deep.include({
      ...{ id: null, role: sharer.role, app_access: false, admin_access: false, share, iss: 'service' },
      share_scope: { collection: 'article', item: '1' },
    });
    expect((await service.request('GET', `/shares/info/${share}`)).body.data.times_used).to.equal(1);
  });

  it('puts the refresh token into the cookie in mode "cookie"', async () => {
    const { body, headers } = await signInByShare(service, await shareAsAdmin(), { mode: 'cookie' });
    expect(Object.keys(body.data).sort()).to.deep.equal(['access_token', 'expires']);
    const cookie = headers.get('set-cookie') as string;
    expect(cookie).to.match(/^service_refresh_token=.{64}; .*HttpOnly/);
    const refreshed = await service.request('POST', '/auth/refresh', { headers: { cookie }, body: {} });
    expect([refreshed.status, Object.keys(refreshed.body.data).sort()]).to.deep.equal([
      200,
      ['access_token', 'expires'],
    ]);
  });

  for (const body of [
    {},
    { share: 5 },
    { share: randomUUID(), mode: 'session' },
    { share: randomUUID(), password: 1 },
    [],
  ])
    it(`refuses ${JSON.stringify(body).slice(0, 30)} with INVALID_PAYLOAD`, async () => {
      expect(codeOf(await service.request('POST', '/shares/auth', { body }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

  it('answers every failure alike, and not before LOGIN_STALL_TIME', async function () {
    this.timeout(30_000);
    const usedUp = await shareAsAdmin({ max_uses: 1 });
    expect((await signInByShare(service, usedUp)).status).to.equal(200);
    const password = 'right';
    const cases: [string, object][] = [
      [await shareAsAdmin({ password }), { password: 'wrong' }],
      [await shareAsAdmin({ password }), {}],
      [await shareAsAdmin({ password, date_end: past(10) }), { password }],
      [await shareAsAdmin({ date_start: future(1000) }), {}],
      [usedUp, {}],
      [randomUUID(), { password }],
      ['no key', {}],
    ];
    const bodies = new Set<string>();
    for (const [share, more] of cases) {
      const from = performance.now();
      const reply = await signInByShare(service, share, more);
      expect(performance.now() - from).to.be.greaterThan(STALL - 5);
      bodies.add(JSON.stringify([reply.status, reply.body]));
    }
    expect([...bodies]).to.deep.equal([
      '[401,{"errors":[{"message":"Invalid user credentials.","extensions":{"code":"INVALID_CREDENTIALS"}}]}]',
    ]);
  });

  it('after ten wrong passwords of one network also the right one is refused, and other shares are not', async function () {
    this.timeout(60_000);
    const [share, other] = [await shareAsAdmin({ password: 'right' }), await shareAsAdmin({ password: 'right' })];
    const guesses = await Promise.all(
      Array.from({ length: 14 }, () => signInByShare(service, share, { password: 'no' })),
    );
    expect(guesses.map(({ status }) => status).sort()).to.deep.equal([
      ...Array.from({ length: 10 }, () => 401),
      ...Array.from({ length: 4 }, () => 429),
    ]);
    const refused = await signInByShare(service, share, { password: 'right' });
    expect(codeOf(refused)).to.deep.equal([429, 'REQUESTS_EXCEEDED']);
    expect(Date.parse(refused.body.errors[0].extensions.reset)).to.be.greaterThan(Date.now());
    expect((await signInByShare(service, other, { password: 'right' })).status).to.equal(200);
    // Once the window has ended, the share opens again.
    await service.database.query('update platform_share_limits set ends = now() where share = $1', [share]);
    expect((await signInByShare(service, share, { password: 'right' })).status).to.equal(200);
  });

  it('a network that has used up its guesses shuts out itself alone', async function () {
    this.timeout(60_000);
    const share = await shareAsAdmin({ password: 'right' });
    const guess = (password: string, ip: string) =>
      service.request('POST', '/shares/auth', { body: { share, password }, headers: { 'x-forwarded-for': ip } });
    await Promise.all(Array.from({ length: 11 }, () => guess('wrong', '198.51.100.7')));
    expect((await guess('right', '198.51.100.7')).status).to.equal(429);
    expect((await guess('right', '203.0.113.9')).status).to.equal(200);
  });

  it("the addresses of the share's role hold for visitors", async () => {
    const { role } = await createSharer(service);
    await requestAsAdmin(service, 'PATCH', `/roles/${role}`, { ip_access: ['198.51.100.7'] });
    const share = await shareAsAdmin({ role });
    const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } });
    const signIn = (ip: string) => service.request('POST', '/shares/auth', { body: { share }, ...from(ip) });
    expect(codeOf(await signIn('203.0.113.9'))).to.deep.equal([401, 'INVALID_IP']);
    const { body } = await signIn('198.51.100.7');
    const { access_token: token, refresh_token } = body.data;
    const read = (ip: string) => service.request('GET', '/items/article', { token, ...from(ip) });
    expect([(await read('198.51.100.7')).status, codeOf(await read('203.0.113.9'))]).to.deep.equal([
      200,
      [401, 'INVALID_IP'],
    ]);
    const refresh = await service.request('POST', '/auth/refresh', {
      body: { refresh_token },
      ...from('203.0.113.9'),
    });
    expect(codeOf(refresh)).to.deep.equal([401, 'INVALID_IP']);
    // A refused sign-in counts no use.
    expect((await service.request('GET', `/shares/info/${share}`)).body.data.times_used).to.equal(1);
  });

  it('a share takes a hundred guesses of all networks, and networks that are refused leave no row', async () => {
    const share = await shareAsAdmin({ password: 'right' });
    await service.database.query(
      `insert into platform_share_limits (key, used, ends, share) values ($1, 99, now() + interval '10 minutes', $2)`,
      [`guess ${share}`, share],
    );
    expect((await signInByShare(service, share, { password: 'no' })).status).to.equal(401);
    const keys = async () =>
      (await service.database.query('select key from platform_share_limits where share = $1', [share])).length;
    expect(await keys()).to.equal(2);
    await service.database.query('delete from platform_share_limits where share = $1 and used = 1', [share]);
    const refused = await signInByShare(service, share, { password: 'right' });
    expect([refused.status, refused.body.errors[0].extensions.limit]).to.deep.equal([429, 100]);
    expect(await keys()).to.equal(1);
  });

  it('right passwords use up no guesses', async function () {
    this.timeout(60_000);
    const share = await shareAsAdmin({ password: 'right' });
    for (let at = 0; at < 12; at++)
      expect((await signInByShare(service, share, { password: 'right' })).status).to.equal(200);
  });
});
