import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from './asset-storage-fixture.ts';
import { requestAsAdmin } from './test-users.ts';

const NAME = 'service_refresh_token';
const PASSWORD = 'a good password';

describe('session cookie at /assets', () => {
  let ground: AssetStorageFixture;
  let database: FreshDatabase;
  let service: InProcessService;
  let id: string;

  before(async function () {
    this.timeout(120_000);
    ground = await createAssetStorageFixture();
    database = await createMigratedDatabase('assets_cookie');
    service = await startService({ database, env: ground.env });
    id = await ground.file(database, 'hello');
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await ground?.remove();
  });

  interface Visitor {
    readonly user: string;
    readonly role: string;
    readonly cookie: string;
  }

  /** Creates a role with these grants on files and a user of it, and signs the user in with mode "cookie". */
  async function visitor(role: object = {}, grants: readonly object[] = [{}]): Promise<Visitor> {
    const name = randomBytes(4).toString('hex');
    const createdRole = await requestAsAdmin(service, 'POST', '/roles', { name, app_access: false, ...role });
    for (const grant of grants) {
      const read = { collection: 'platform_files', action: 'read', fields: ['*'], role: createdRole.id };
      await requestAsAdmin(service, 'POST', '/permissions', { ...read, ...grant });
    }
    const email = `${name}@example.com`;
    const user = await requestAsAdmin(service, 'POST', '/users', { email, password: PASSWORD, role: createdRole.id });
    const body = { email, password: PASSWORD, mode: 'cookie' };
    const { headers } = await service.request('POST', '/auth/login', { body });
    const [cookie] = (headers.get('set-cookie') as string).split(';');
    expect(cookie).to.match(new RegExp(`^${NAME}=.{64}$`));
    return { user: user.id, role: createdRole.id, cookie: cookie as string };
  }

  const ask = (cookie: string, headers: Record<string, string> = {}, method = 'GET', path = `/assets/${id}`) =>
    service.request(method, path, { headers: { cookie, ...headers } });
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status;

  it('the cookie authenticates GET and HEAD of assets', async () => {
    const { cookie } = await visitor();
    const { status: found, body, headers } = await ask(cookie);
    expect([found, body, headers.get('cache-control')]).to.deep.equal([200, 'hello', 'private, max-age=2592000']);
    expect(headers.get('set-cookie')).to.equal(null);
    expect(await status(cookie, {}, 'HEAD')).to.equal(200);
    expect(await status(`first=1; ${cookie}; last=2`, {}, 'GET', `/assets/${id}/name.png`)).to.equal(200);
  });

  it("the permissions of the cookie's user apply", async () => {
    const rule = { permissions: { uploaded_by: { _eq: '$CURRENT_USER' } } };
    const one = await visitor({}, [rule]);
    const two = await visitor({}, [rule]);
    const own = await ground.file(database, 'own', { uploaded_by: one.user });
    const path = `/assets/${own}`;
    expect([await status(one.cookie, {}, 'GET', path), await status(two.cookie, {}, 'GET', path)]).to.deep.equal([
      200, 403,
    ]);
    const admin = await visitor({ admin_access: true }, []);
    expect(await status(admin.cookie, {}, 'GET', path)).to.equal(200);
  });

  it('the cookie authenticates only requests from pages of the same origin, or from no page', async () => {
    const { cookie } = await visitor();
    const { host } = new URL(service.url);
    const taken = [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { origin: `http://${host}` },
      { origin: `https://${host}` },
    ] as Record<string, string>[];
    for (const headers of taken) expect(await status(cookie, headers), JSON.stringify(headers)).to.equal(200);
    const ignored = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'anything' },
      { origin: 'https://elsewhere.example' },
      { origin: `http://${host}.elsewhere.example` },
      { origin: 'http://127.0.0.1' },
      { origin: 'null' },
      { origin: 'https://elsewhere.example', 'sec-fetch-site': 'same-origin' },
      { origin: `http://${host}`, 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[];
    for (const headers of ignored) expect(await status(cookie, headers), JSON.stringify(headers)).to.equal(403);
  });

  it('a token, valid or not, wins over the cookie', async () => {
    const reader = await visitor();
    const other = await visitor({}, []);
    const token = randomBytes(16).toString('hex');
    await requestAsAdmin(service, 'PATCH', `/users/${other.user}`, { token });
    expect(await status(reader.cookie, { authorization: `Bearer ${token}` })).to.equal(403);
    expect(await status(reader.cookie, { authorization: 'Bearer wrong' })).to.equal(401);
    expect(await status(reader.cookie, {}, 'GET', `/assets/${id}?access_token=${token}`)).to.equal(403);
    // An Authorization header of another scheme than Bearer is not read as a token, so the cookie applies.
    expect(await status(reader.cookie, { authorization: 'Basic YTpi' })).to.equal(200);
  });

  it('an invalid cookie is ignored, and the Public role applies', async () => {
    const public_ = await ground.file(database, 'for all');
    const grant = {
      collection: 'platform_files',
      action: 'read',
      fields: ['id'],
      permissions: { id: { _eq: public_ } },
    };
    const { id: row } = await requestAsAdmin(service, 'POST', '/permissions', { role: PUBLIC_ROLE_ID, ...grant });
    const { cookie } = await visitor({}, []);
    const askPublic = (value: string, headers = {}) => ask(value, headers, 'GET', `/assets/${public_}`);
    try {
      for (const value of [
        `${NAME}=unknown`,
        `${NAME}=`,
        NAME,
        'other=1',
        `${NAME}=%00`,
        `${NAME}=${'x'.repeat(4000)}`,
      ]) {
        const { status: found, headers, body } = await askPublic(value);
        expect([found, body], value).to.deep.equal([200, 'for all']);
        expect(headers.get('cache-control'), value).to.equal('public, max-age=2592000');
      }
      // A valid cookie makes its user the caller: this user may not read the file, although the Public role may.
      expect((await askPublic(cookie)).status).to.equal(403);
      expect((await askPublic(cookie, { 'sec-fetch-site': 'cross-site' })).status).to.equal(200);
    } finally {
      await requestAsAdmin(service, 'DELETE', `/permissions/${row}`);
    }
  });

  it('the cookie authenticates no request once its session has ended', async () => {
    const out = await visitor();
    expect(await status(out.cookie)).to.equal(200);
    await service.request('POST', '/auth/logout', { headers: { cookie: out.cookie }, body: {} });
    expect(await status(out.cookie)).to.equal(403);

    const late = await visitor();
    await database.query(`update platform_sessions set expires = now() where "user" = $1`, [late.user]);
    expect(await status(late.cookie)).to.equal(403);

    const suspended = await visitor();
    await database.query(`update platform_users set status = 'suspended' where id = $1`, [suspended.user]);
    expect(await status(suspended.cookie)).to.equal(403);

    const shared = await visitor();
    await database.query(`update platform_sessions set share = gen_random_uuid() where "user" = $1`, [shared.user]);
    expect(await status(shared.cookie)).to.equal(403);
  });

  it('the IP access list of the role applies to the cookie', async () => {
    const { cookie, role } = await visitor();
    await requestAsAdmin(service, 'PATCH', `/roles/${role}`, { ip_access: ['10.9.8.7'] });
    expect(await status(cookie)).to.equal(403);
    await requestAsAdmin(service, 'PATCH', `/roles/${role}`, { ip_access: ['10.9.8.7', '127.0.0.1'] });
    expect(await status(cookie)).to.equal(200);
  });

  it('reading by cookie changes neither session nor user and takes one statement', async () => {
    const { cookie, user } = await visitor();
    const state = async () => [
      await database.query('select * from platform_sessions where "user" = $1', [user]),
      await database.query('select last_access from platform_users where id = $1', [user]),
    ];
    const before = await state();
    await ask(cookie);
    await ask(cookie);
    expect(await recordStatementsDuring(() => ask(cookie))).to.have.length(1);
    expect(await state()).to.deep.equal(before);
    const refreshed = await service.request('POST', '/auth/refresh', { headers: { cookie }, body: { mode: 'cookie' } });
    expect(refreshed.status).to.equal(200);
    // After the refresh the new cookie authenticates, and the old one does not.
    const [next] = (refreshed.headers.get('set-cookie') as string).split(';');
    expect([await status(next as string), await status(cookie)]).to.deep.equal([200, 403]);
  });

  it('the cookie authenticates no other route', async () => {
    const { cookie } = await visitor({ admin_access: true });
    const cases: readonly (readonly [string, string, unknown?])[] = [
      ['GET', '/users/me'],
      ['GET', '/files'],
      ['GET', `/files/${id}`],
      ['GET', '/users'],
      ['SEARCH', '/users', {}],
      ['PATCH', '/users/me', { title: 'x' }],
      ['POST', '/graphql/system', { query: '{ users_me { id } }' }],
      ['GET', `/users/../assets/${id}/../../users`],
      ['GET', '/assetsx/1'],
    ];
    for (const [method, path, body] of cases) {
      const { status: found, body: reply } = await service.request(method, path, { headers: { cookie }, body });
      expect([200, 204].includes(found) && reply?.errors === undefined, `${method} ${path}: ${found}`).to.equal(false);
    }
    for (const method of ['POST', 'PATCH', 'DELETE', 'SEARCH'])
      expect((await ask(cookie, {}, method)).status, method).to.be.oneOf([403, 404, 405]);
  });
});
