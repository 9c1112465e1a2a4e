import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  renderConfinedEndpoint,
} from './confined-packages.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const SECRET = 'what tests sign tokens of callers without a user with';
const LEVELS = ['public', 'authenticated', 'app', 'admin'] as const;
type Level = (typeof LEVELS)[number];

/** How a request is authenticated: by a token in the Authorization header, in the query, or not at all. */
interface Caller {
  readonly token?: string;
  /** Sent as the query parameter `access_token`. */
  readonly query?: string;
}

/** The expected status of each caller at an endpoint of each level, in the order of LEVELS (conventions, "endpoint.access"). */
const CALLERS: Readonly<Record<string, readonly [number, number, number, number]>> = {
  anonymous: [200, 401, 401, 401],
  'a share session': [200, 401, 401, 401],
  'a user without app access, by static token': [200, 200, 403, 403],
  'a user without app access, by access token': [200, 200, 403, 403],
  'a user without app access, by a token in the query': [200, 200, 403, 403],
  'a user with app access, by static token': [200, 200, 200, 403],
  'a user with app access, by access token': [200, 200, 200, 403],
  'a user with app access, by a token in the query': [200, 200, 200, 403],
  'an admin, by static token': [200, 200, 200, 200],
  'an admin, by access token': [200, 200, 200, 200],
  'an admin, by a token in the query': [200, 200, 200, 200],
  'a user without app access whose header wins over the query of an admin': [200, 200, 403, 403],
};

describe('the access level of a confined endpoint', function () {
  this.timeout(120_000);
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  let callers: Readonly<Record<string, Caller>>;

  before(async () => {
    packages = await createConfinedPackageFolder();
    for (const level of LEVELS) {
      await packages.put(
        `service-extension-for-${level}`,
        { type: 'endpoint', capabilities: { endpoint: { access: level } }, stateful: true },
        renderConfinedEndpoint(`for-${level}`, '() => ({ body: (globalThis.runs = (globalThis.runs ?? 0) + 1) })'),
      );
    }
    service = await startService({ env: { EXTENSIONS_PATH: packages.path, SECRET } });
    callers = await everyone();
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  async function everyone(): Promise<Readonly<Record<string, Caller>>> {
    const plain = await createUserWithPermissions(service, []);
    const app = await createUserWithPermissions(service, [], { app_access: true });
    const signedIn = async (person: { id: string }): Promise<string> => {
      const { email } = await requestAsAdmin(service, 'PATCH', `/users/${person.id}`, {
        password: 'a long one of theirs',
      });
      const body = { email, password: 'a long one of theirs' };
      return (await service.request('POST', '/auth/login', { body })).body.data.access_token;
    };
    const admin = randomUUID();
    await requestAsAdmin(service, 'PATCH', '/users/me', { token: admin });
    const { id: share } = await requestAsAdmin(service, 'POST', '/shares', {
      ...{ collection: 'platform_roles', item: app.role, role: app.role },
    });
    const claims = { id: null, role: app.role, app_access: true, admin_access: true, share };
    return {
      anonymous: {},
      'a share session': { token: jwt.sign(claims, SECRET, { issuer: 'service', expiresIn: '1m' }) },
      'a user without app access, by static token': plain,
      'a user without app access, by access token': { token: await signedIn(plain) },
      'a user without app access, by a token in the query': { query: plain.token },
      'a user with app access, by static token': app,
      'a user with app access, by access token': { token: await signedIn(app) },
      'a user with app access, by a token in the query': { query: app.token },
      'an admin, by static token': { token: admin },
      'an admin, by access token': service.admin,
      'an admin, by a token in the query': { query: service.admin.token },
      'a user without app access whose header wins over the query of an admin': { token: plain.token, query: admin },
    };
  }

  const call = (level: Level, { token, query }: Caller, method = 'GET'): Promise<HttpReply> =>
    service.request(method, `/for-${level}${query ? `?access_token=${query}` : ''}`, { token });

  for (const [who, statuses] of Object.entries(CALLERS)) {
    for (const [at, level] of LEVELS.entries()) {
      const expected = statuses[at] as number;
      it(`an endpoint of level ${level} answers ${expected} to ${who}`, async () => {
        const { status, body } = await call(level, callers[who] as Caller);
        expect(status).to.equal(expected);
        if (expected === 200) expect(body).to.be.a('number');
        if (expected === 401) expect(body).to.deep.equal(refused('Invalid user credentials.', 'INVALID_CREDENTIALS'));
        if (expected === 403)
          expect(body).to.deep.equal(refused("You don't have permission to access this.", 'FORBIDDEN'));
      });
    }
  }

  it("access is checked before the endpoint's code runs, for every method", async () => {
    const admin = callers['an admin, by access token'] as Caller;
    const before = (await call('admin', admin)).body;
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      expect((await call('admin', {}, method)).status, method).to.equal(401);
      expect(
        (await call('admin', callers['a user with app access, by static token'] as Caller, method)).status,
      ).to.equal(403);
    }
    expect((await call('admin', admin)).body).to.equal(before + 1);
  });

  it('a wrong token is answered 401, also on a public endpoint', async () => {
    const gone = await createUserWithPermissions(service, []);
    await requestAsAdmin(service, 'PATCH', `/users/${gone.id}`, { status: 'suspended' });
    const expired = jwt.sign({ id: gone.id, role: null }, SECRET, { issuer: 'service', expiresIn: -1 });
    for (const level of LEVELS) {
      for (const [token, code] of [
        ['an unknown token', 'INVALID_CREDENTIALS'],
        [gone.token, 'USER_SUSPENDED'],
        [expired, 'TOKEN_EXPIRED'],
      ] as const) {
        const { status, body } = await call(level, { query: encodeURIComponent(token) });
        expect([status, body.errors[0].extensions.code], `${level} ${code}`).to.deep.equal([401, code]);
      }
    }
  });

  it('a changed role counts from the next request on', async () => {
    const person = await createUserWithPermissions(service, []);
    expect((await call('app', person)).status).to.equal(403);
    await requestAsAdmin(service, 'PATCH', `/roles/${person.role}`, { app_access: true });
    expect((await call('app', person)).status).to.equal(200);
    await requestAsAdmin(service, 'PATCH', `/users/${person.id}`, { role: null });
    expect((await call('app', person)).status).to.equal(403);
  });
});

const refused = (message: string, code: string) => ({ errors: [{ message, extensions: { code } }] });
