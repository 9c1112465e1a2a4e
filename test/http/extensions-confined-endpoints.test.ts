import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  listPackageFailures,
  renderConfinedEndpoint,
} from './confined-packages.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const access = (level: string, more: object = {}) => ({
  type: 'endpoint',
  capabilities: { endpoint: { access: level }, ...more },
});

describe('confined endpoints', () => {
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  let app: string;
  let user: string;

  before(async function () {
    this.timeout(120_000);
    packages = await createConfinedPackageFolder();
    for (const level of ['public', 'authenticated', 'app', 'admin']) {
      await packages.put(
        `service-extension-for-${level}`,
        access(level),
        renderConfinedEndpoint(`for-${level}`, '() => ({ body: 1 })'),
      );
    }
    await packages.put(
      'service-extension-echo',
      access('public', { log: true, items: { accountability: 'user' } }),
      renderConfinedEndpoint(
        'echo',
        `async (request, context) => {
          const { host, ...facts } = context;
          switch (request.path) {
            case '/facts': return { body: facts };
            case '/throw': throw new Error('a secret of the guest');
            case '/loop': for (;;);
            case '/reject': return context.reject(418, 'TEAPOT', 'No coffee here.');
            case '/large': return { body: 'x'.repeat(2 * 1024 * 1024) };
            case '/shape': return { headers: {} };
            case '/bomb': { const all = []; for (;;) all.push(new Array(1e6).fill(1)); }
            case '/wait': return new Promise(() => {});
            case '/answer': return request.body;
            case '/items': return { body: await host.items.readMany('notes', { fields: ['id', 'text'] }) };
            case '/setting': return { body: await host.settings.get('anything') };
            case '/denied': return { body: await host.request.send({ url: 'https://example.com' }) };
            case '/globals': return { body: [typeof process, typeof require, typeof fetch, typeof globalThis.process] };
            case '/count': globalThis.count = (globalThis.count ?? 0) + 1; return { body: globalThis.count };
            default: return { body: request };
          }
        }`,
      ),
    );
    await packages.put(
      '@acme/service-extension-whole',
      access('public'),
      renderConfinedEndpoint('@acme/service-extension-whole', '({ path }) => ({ body: path })'),
    );
    await packages.put('service-extension-items', access('public'), renderConfinedEndpoint('items', '() => ({})'));
    await packages.put(
      'service-extension-silent',
      { type: 'endpoint', capabilities: { log: true } },
      renderConfinedEndpoint('silent', '() => ({})'),
    );
    await packages.put('service-extension-Loud', access('public'), renderConfinedEndpoint('Loud', '() => ({})'));
    await packages.put('service-extension-twin', access('public'), renderConfinedEndpoint('twin', '() => ({})'));
    await packages.put('@acme/service-extension-twin', access('public'), renderConfinedEndpoint('twin', '() => ({})'));
    await packages.put(
      'service-extension-kept',
      { ...access('public'), stateful: true },
      renderConfinedEndpoint('kept', '() => ({ body: (globalThis.count = (globalThis.count ?? 0) + 1) })'),
    );
    service = await startService({
      env: { EXTENSIONS_PATH: packages.path, EXTENSIONS_SANDBOX_TIMEOUT: '5s', LOG_LEVEL: 'info' },
    });
    await requestAsAdmin(service, 'POST', '/collections', {
      collection: 'notes',
      schema: {},
      fields: [{ field: 'text', type: 'string' }],
    });
    await requestAsAdmin(service, 'POST', '/items/notes', { text: 'a' });
    app = (await createUserWithPermissions(service, [{ collection: 'notes', action: 'read' }], { app_access: true }))
      .token;
    user = (await createUserWithPermissions(service, [])).token;
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const ask = (method: string, path: string, token?: string, body?: unknown) =>
    service.request(method, path, { ...(token ? { token } : {}), ...(body === undefined ? {} : { body }) });

  describe('the access level', () => {
    const expected: Readonly<Record<string, readonly number[]>> = {
      public: [200, 200, 200, 200],
      authenticated: [401, 200, 200, 200],
      app: [401, 403, 200, 200],
      admin: [401, 403, 403, 200],
    };
    for (const [level, statuses] of Object.entries(expected)) {
      it(`the level ${level} is checked before the endpoint's code runs`, async () => {
        const callers = [undefined, user, app, service.admin.token];
        const replies = await Promise.all(callers.map((token) => ask('GET', `/for-${level}`, token)));
        expect(replies.map(({ status }) => status)).to.deep.equal(statuses);
        for (const { status, body } of replies) {
          if (status === 401) expect(body.errors[0].extensions.code).to.equal('INVALID_CREDENTIALS');
          if (status === 403) expect(body.errors[0].extensions.code).to.equal('FORBIDDEN');
        }
      });
    }
  });

  describe('the input of a handler', () => {
    it('the input has method, path, query and body, and no other member', async () => {
      const { status, body, headers } = await ask('POST', '/echo/a/b%2Fc?x=1&y=&access_token=', undefined, { z: [1] });
      expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
      expect(body).to.deep.equal({ method: 'POST', path: '/a/b%2Fc', query: { x: '1', y: '' }, body: { z: [1] } });
    });

    it('the path of the mount is "/", and a missing body is null', async () => {
      for (const path of ['/echo', '/echo/', '/ECHO?']) {
        expect((await ask('GET', path)).body).to.deep.equal({ method: 'GET', path: '/', query: {}, body: null });
      }
    });

    it('a handler is called for seven methods', async () => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        expect((await ask(method, '/echo')).body.method).to.equal(method);
      }
      expect((await ask('HEAD', '/echo')).status).to.equal(200);
      const other = await ask('SEARCH', '/echo');
      expect([other.status, other.body.errors[0].extensions.code]).to.deep.equal([405, 'METHOD_NOT_ALLOWED']);
    });

    it('the query has no access_token', async () => {
      const { body } = await ask('GET', `/echo?a=1&access_token=${service.admin.token}`);
      expect(body.query).to.deep.equal({ a: '1' });
    });

    it("the context has the caller's accountability, without a user for anonymous callers", async () => {
      expect((await ask('GET', '/echo/facts')).body).to.deep.equal({
        extensionId: 'service-extension-echo',
        contributionId: 'echo',
        activation: { type: 'json-endpoint' },
        accountability: null,
      });
      const { accountability } = (await ask('GET', '/echo/facts', app)).body;
      expect(accountability.admin).to.equal(false);
      expect(accountability.user).to.be.a('string');
      expect((await ask('GET', '/echo/facts', service.admin.token)).body.accountability.admin).to.equal(true);
    });

    it('the body may be any JSON value', async () => {
      for (const body of ['"text"', '5', 'true', 'null', '[1]', '{"a":{}}']) {
        expect((await ask('POST', '/echo', undefined, body)).body.body, body).to.deep.equal(JSON.parse(body));
      }
    });

    for (const [what, body, type] of [
      ['not JSON', '{', 'application/json'],
      ['a text', 'hello', 'text/plain'],
      ['a form', 'a=1', 'application/x-www-form-urlencoded'],
      ['an upload', '--a--', 'multipart/form-data; boundary=a'],
      ['larger than a megabyte', JSON.stringify('x'.repeat(1024 * 1024)), 'application/json'],
    ] as const) {
      it(`a body that is ${what} is INVALID_PAYLOAD`, async () => {
        const { status, body: reply } = await service.request('POST', '/echo', {
          body,
          headers: { 'content-type': type },
        });
        expect([status, reply.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      });
    }

    const many = Array.from({ length: 65 }, (_, at) => `k${at}=1`).join('&');
    for (const [what, path] of Object.entries({
      'a list in the query': '/echo?a=1&a=2',
      'a nested query': '/echo?a[b]=1',
      'a query nested without end': `/echo?a${'[b]'.repeat(30)}=1`,
      'too many parameters': `/echo?${many}`,
      'a long value': `/echo?a=${'x'.repeat(2049)}`,
      'a long name': `/echo?${'x'.repeat(2049)}=1`,
      'a long path': `/echo/${'x'.repeat(2048)}`,
    })) {
      it(`a request with ${what} is INVALID_PAYLOAD`, async () => {
        const { status, body } = await ask('GET', path);
        expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      });
    }
  });

  describe('the result of a handler', () => {
    const answer = (value: unknown) => ask('POST', '/echo/answer', undefined, value);

    it('the body is sent without an envelope', async () => {
      const { status, body } = await answer({ status: 418, body: { errors: 'mine' } });
      expect([status, body]).to.deep.equal([418, { errors: 'mine' }]);
      expect([(await answer({})).status, (await answer({})).body]).to.deep.equal([200, null]);
      expect((await answer({ body: 'text' })).body).to.equal('text');
    });

    it('HEAD, 204 and 304 are answered without a body', async () => {
      expect((await answer({ status: 204, body: 1 })).body).to.equal(undefined);
      expect((await answer({ status: 304, body: 1 })).status).to.equal(304);
      const head = await ask('HEAD', '/echo');
      expect([head.status, head.body]).to.deep.equal([200, undefined]);
    });

    it('an invalid result is answered 500 without details', async () => {
      const wrong = [
        [1],
        { headers: {} },
        { body: 1, more: 1 },
        { status: 99 },
        { status: 101 },
        { status: 600 },
        { status: '200' },
        { status: 200.5 },
      ];
      for (const value of wrong) {
        const { status, body } = await answer(value);
        expect([status, body.errors[0].extensions.code], JSON.stringify(value)).to.deep.equal([
          500,
          'INTERNAL_SERVER_ERROR',
        ]);
        expect(body.errors[0].message).to.equal('An unexpected error occurred.');
      }
    });

    it('a handler that throws is answered 500 without details, also for admins', async () => {
      for (const token of [undefined, service.admin.token]) {
        const { status, body } = await ask('GET', '/echo/throw', token);
        expect(status).to.equal(500);
        expect(JSON.stringify(body)).not.to.include('secret');
      }
    });

    for (const path of ['/echo/loop', '/echo/wait']) {
      it(`a handler that never ends is answered 500 in time (${path})`, async () => {
        const since = Date.now();
        const { status, body } = await ask('GET', path);
        expect([status, body.errors[0].extensions.code]).to.deep.equal([500, 'INTERNAL_SERVER_ERROR']);
        expect(Date.now() - since).to.be.below(30_000);
      });
    }
  });

  it("an endpoint has its granted capabilities with the caller's permissions, and no others", async () => {
    expect((await ask('GET', '/echo/items', app)).body).to.deep.equal({ ok: true, value: [{ id: 1, text: 'a' }] });
    expect((await ask('GET', '/echo/items', user)).body.error.code).to.equal('denied');
    expect((await ask('GET', '/echo/items')).body.error.code).to.equal('denied');
    expect((await ask('GET', '/echo/denied')).body.error.code).to.equal('denied');
    // Reading settings needs no capability, and an undeclared key is null.
    expect((await ask('GET', '/echo/setting')).body).to.deep.equal({ ok: true, value: null });
    expect((await ask('GET', '/echo/globals')).body).to.deep.equal([
      'undefined',
      'undefined',
      'undefined',
      'undefined',
    ]);
  });

  it('an endpoint reads with the permissions of the Public role for anonymous callers', async () => {
    const nil = '00000000-0000-0000-0000-000000000000';
    const rule = { role: nil, collection: 'notes', action: 'read', fields: ['id', 'text'], permissions: null };
    const permission = await requestAsAdmin(service, 'POST', '/permissions', rule);
    expect((await ask('GET', '/echo/items')).body).to.deep.equal({ ok: true, value: [{ id: 1, text: 'a' }] });
    await requestAsAdmin(service, 'DELETE', `/permissions/${permission.id}`);
  });

  it('state is kept between calls only with "stateful", which GET /extensions shows', async () => {
    expect([(await ask('GET', '/echo/count')).body, (await ask('GET', '/echo/count')).body]).to.deep.equal([1, 1]);
    const [first, second] = [(await ask('GET', '/kept')).body, (await ask('GET', '/kept')).body];
    expect(second).to.be.above(first);
    expect((await listExtensions(service))['service-extension-kept']?.stateful).to.equal(true);
  });

  it('an endpoint is mounted under its id, which may be the whole package name', async () => {
    expect((await ask('GET', '/@acme/service-extension-whole/x')).body).to.equal('/x');
    expect((await ask('GET', '/%40acme/service-extension-whole/x')).body).to.equal('/x');
    expect((await ask('GET', '/@acme/whole')).status).to.equal(404);
  });

  it('an endpoint under a reserved or taken path does not load', async () => {
    const rows = await listExtensions(service);
    const codes = ['items', 'silent', 'Loud', 'twin'].map((name) => rows[`service-extension-${name}`]?.reason?.code);
    expect(codes).to.deep.equal(['ROUTE_COLLISION', 'CAPABILITY_MISSING', 'ROUTE_INVALID', 'AMBIGUOUS_ENDPOINT']);
    expect(rows['@acme/service-extension-twin']?.reason?.code).to.equal('AMBIGUOUS_ENDPOINT');
    expect((await ask('GET', '/twin')).status).to.equal(404);
    expect((await ask('GET', '/items/notes', service.admin.token)).body.data).to.have.length(1);
  });

  it('the audit lists confined endpoints with their grants', async () => {
    const { body } = await service.request('GET', '/extensions/audit', { token: service.admin.token });
    const line = body.data.may.find(({ name }: { name: string }) => name === 'service-extension-echo');
    expect(line.runtime).to.equal('confined');
    expect(line.sentences).to.include.members(['serves /echo', 'may be called by anyone']);
  });

  it("reject() answers with the author's status, code and message", async () => {
    const { status, body } = await ask('GET', '/echo/reject');
    expect([status, body]).to.deep.equal([
      418,
      { errors: [{ message: 'No coffee here.', extensions: { code: 'TEAPOT' } }] },
    ]);
  });

  it('the failures in GET /extensions have a code for thrown, late, CPU and size failures', async () => {
    const codes: Record<string, string | readonly string[]> = {
      throw: 'GUEST_ERROR',
      // On a slow machine the deadline may end the endless loop before the CPU limit does.
      loop: ['CPU_LIMIT', 'TIMEOUT'],
      wait: 'TIMEOUT',
      large: 'RESULT_TOO_LARGE',
      shape: 'INVALID_RESULT',
      bomb: ['CRASH', 'CPU_LIMIT', 'TIMEOUT'],
    };
    for (const [path, code] of Object.entries(codes)) {
      const { status, body } = await ask('GET', `/echo/${path}`);
      expect([status, body.errors[0].message], path).to.deep.equal([500, 'An unexpected error occurred.']);
      const [latest] = await listPackageFailures(service, 'service-extension-echo');
      expect([code].flat(), path).to.include(latest?.code);
    }
    expect((await ask('GET', '/extensions', app)).status).to.equal(403);
  });
});
