import { expect } from 'chai';
import {
  createPackageFolder,
  createPackageJson,
  PANEL_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';

describe('/extensions', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;
  const get = (path: string, token: string | null = service.admin.token) => service.request('GET', path, { token });
  const post = (path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request('POST', path, { token, body });
  const rowOf = async (name: string) =>
    (await get('/extensions')).body.data.find((one: { name: string }) => one.name === name);
  const server = (type: string) => ({ type, path: 'dist/index.js' });

  before(async () => {
    place = await createPackageFolder({
      'service-extension-hello/package.json': createPackageJson('service-extension-hello', server('endpoint')),
      'service-extension-hello/dist/index.js': `export default (router) => router.get('/', (req, res) => res.send('hello'));`,
      'any-name/package.json': createPackageJson('@acme/service-extension-named', server('endpoint')),
      'any-name/dist/index.js': `export default { id: 'custom', handler: (router) => router.get('/a', (req, res) => res.json({ ok: true })) };`,
      'service-extension-shadow/package.json': createPackageJson('service-extension-shadow', server('endpoint')),
      'service-extension-shadow/dist/index.js': `export default { id: 'users', handler: (router) => {
        router.get('/', (req, res) => res.send('mine'));
        router.get('/a/b/c/d', (req, res) => res.send('behind'));
      } };`,
      'service-extension-first/package.json': createPackageJson('service-extension-first', server('endpoint')),
      'service-extension-first/dist/index.js': `export default { id: 'Both', handler: (router) => router.get('/one', (req, res) => res.send('first')) };`,
      'service-extension-second/package.json': createPackageJson('service-extension-second', server('endpoint')),
      'service-extension-second/dist/index.js': `export default { id: 'both', handler: (router) => {
        router.get('/one', (req, res) => res.send('second'));
        router.get('/two', (req, res) => res.send('two'));
      } };`,
      'service-extension-none/package.json': createPackageJson('service-extension-none', server('hook')),
      'service-extension-throws/package.json': createPackageJson('service-extension-throws', server('hook')),
      'service-extension-throws/dist/index.js': `throw new Error('cannot read ' + import.meta.url);`,
      'service-extension-broken/package.json': '{',
      'service-extension-panel/package.json': createPackageJson('service-extension-panel', PANEL_MANIFEST),
      'service-extension-panel/dist/index.js': `export default { id: 'my-panel', later: () => import('./later.js') };`,
      'service-extension-panel/dist/later.js': `export const later = 'my later chunk';`,
      'endpoints/single/index.js': `module.exports = function (router) { router.get('/', (req, res) => res.send('single')); };`,
      'hooks/kernel/index.js': `module.exports = () => {};`,
      'an-impostor/package.json': createPackageJson('@tenon/items', server('hook')),
      'an-impostor/dist/index.js': 'export default () => {};',
      'displays/plain/index.js': `export default { id: 'plain-display' };`,
    });
    service = await startService({ env: { EXTENSIONS_PATH: place.path, LOG_LEVEL: 'warn' } });
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  it('GET /extensions lists every discovered extension with its status', async () => {
    const { status, body } = await get('/extensions');
    expect(status).to.equal(200);
    expect(body.meta).to.deep.equal({ confinedRuntime: { state: 'not-required', posture: null } });
    const seen = body.data.map((one: Record<string, string>) => `${one.name} ${one.type} ${one.status}`);
    expect(seen).to.have.members([
      '@acme/service-extension-named endpoint loaded',
      'service-extension-broken null failed',
      'service-extension-first endpoint loaded',
      'service-extension-hello endpoint loaded',
      'service-extension-none hook failed',
      'service-extension-panel panel discovered',
      'service-extension-second endpoint loaded',
      'service-extension-shadow endpoint loaded',
      'service-extension-throws hook failed',
      'single endpoint loaded',
      'kernel hook failed',
      '@tenon/items hook failed',
      'plain display discovered',
    ]);
    expect((await rowOf('service-extension-none')).reason.code).to.equal('ENTRYPOINT_NOT_FOUND');
    const { reason } = await rowOf('service-extension-throws');
    expect(reason.code).to.equal('REGISTRATION_FAILED');
    expect(reason.detail).to.match(/^cannot read <path>/);
    expect((await rowOf('service-extension-broken')).reason).to.deep.equal({
      code: 'MANIFEST_INVALID',
      detail: 'package.json is not JSON. Correct it.',
    });
    const hello = await rowOf('service-extension-hello');
    expect(hello).to.include({ local: true, version: '1.0.0', bundle: null });
    expect(hello.meta).to.include({ folder: 'service-extension-hello', source: 'local', enabled: true });
    expect(JSON.stringify(body)).not.to.include(place.path);
  });

  it('the routes answer FORBIDDEN to other callers, with and without a trailing slash', async () => {
    expect((await get('/extensions/')).status).to.equal(200);
    for (const path of ['/extensions', '/extensions/', '/extensions/audit']) {
      const refused = await get(path, null);
      expect([refused.status, refused.body.errors[0].extensions.code], path).to.deep.equal([403, 'FORBIDDEN']);
    }
    for (const path of ['/extensions/reload', '/extensions/restart']) {
      expect((await post(path, {}, null)).status, path).to.equal(403);
    }
  });

  it('endpoints answer under their names, behind all core routes', async () => {
    expect((await get('/hello', null)).body).to.equal('hello');
    expect((await get('/HELLO/', null)).body).to.equal('hello');
    expect((await get('/single', null)).body).to.equal('single');
    expect((await get('/custom/a', null)).body).to.deep.equal({ ok: true });
    expect((await get('/named', null)).status).to.equal(404);
    expect((await get('/users')).body).to.have.property('data');
    expect((await get('/users/a/b/c/d', null)).body).to.equal('behind');
    const missing = await get('/hello/more', null);
    expect([missing.status, missing.body.errors[0].extensions.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    expect((await get('/%E0%A4%A', null)).status).to.equal(404);
  });

  it('of two endpoints under one path the first answers first, and the second the rest', async () => {
    expect((await get('/both/one', null)).body).to.equal('first');
    expect((await get('/BOTH/two', null)).body).to.equal('two');
    expect((await get('/both/three', null)).status).to.equal(404);
  });

  it('GET /extensions/sources/index.js is public', async () => {
    const { status, headers, body } = await get('/extensions/sources/index.js', null);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/javascript; charset=UTF-8']);
    expect(headers.get('cache-control')).to.equal('no-cache');
    expect(headers.get('vary')).to.match(/Origin/);
    expect(body).to.include('my-panel').and.include('plain-display').and.not.include(place.path);
    const chunk = /\.\/(later-\w+\.js)/.exec(body)?.[1];
    expect((await get(`/extensions/sources/${chunk}`, null)).body).to.include('my later chunk');
    for (const name of ['index.js.map', 'other.js', '..%2Fpackage.json', 'constructor', '__proto__', 'a/b.js']) {
      const reply = await get(`/extensions/sources/${name}`, null);
      expect([reply.status, reply.body.errors[0].extensions.code], name).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    }
    expect((await service.request('HEAD', '/extensions/sources/index.js')).status).to.equal(200);
  });

  it('GET /extensions/audit answers to admins', async () => {
    const { may, did } = (await get('/extensions/audit')).body.data;
    const line = may.find((one: { name: string }) => one.name === 'service-extension-hello');
    expect(line.runtime).to.equal('full');
    expect(line.sentences).to.include('may do everything this process can do').and.include('serves /hello');
    expect(did).to.be.an('array');
  });

  it('POST /extensions/reload loads changed extensions, unloads removed ones and keeps the others', async () => {
    await place.write({
      'service-extension-state/package.json': createPackageJson('service-extension-state', server('endpoint')),
      'service-extension-state/dist/index.js': `let n = 0; export default (router) => router.get('/', (req, res) => res.json(++n));`,
      'service-extension-change/package.json': createPackageJson('service-extension-change', server('endpoint')),
      'service-extension-change/dist/index.js': `export default (router) => router.get('/', (req, res) => res.send('before'));`,
    });
    expect((await post('/extensions/reload')).status).to.equal(200);
    expect((await get('/state')).body).to.equal(1);
    expect((await get('/change')).body).to.equal('before');
    await place.write({
      'service-extension-change/dist/index.js': `export default (router) => router.get('/', (req, res) => res.send('afterwards'));`,
      'service-extension-none/dist/index.js': `export default () => {};`,
    });
    await place.drop('service-extension-first');
    const { body } = await post('/extensions/reload');
    expect(body.data.map((one: { name: string }) => one.name)).not.to.include('service-extension-first');
    expect(body.meta).to.have.property('confinedRuntime');
    expect((await get('/change')).body).to.equal('afterwards');
    expect((await get('/state')).body).to.equal(2);
    expect((await get('/both/one')).body).to.equal('second');
    expect((await rowOf('service-extension-none')).status).to.equal('loaded');
    const { body: log } = await get('/activity?filter[action][_eq]=reload');
    expect(log.data).to.have.length(2);
  });

  it('POST /extensions/restart restarts a failed extension and rejects an unknown name', async () => {
    for (const body of [
      undefined,
      {},
      { name: 1 },
      { name: 'service-extension-unknown' },
      { name: 'service-extension-hello' },
    ]) {
      const reply = await post('/extensions/restart', body);
      expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
    const { status, body } = await post('/extensions/restart', { name: 'service-extension-throws' });
    expect([status, body.data.map((one: { status: string }) => one.status)]).to.deep.equal([200, ['failed']]);
  });
});

describe('/extensions with other settings', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  beforeEach(async () => {
    place = await createPackageFolder({
      'local/service-extension-a/package.json': createPackageJson('service-extension-a', {
        type: 'endpoint',
        path: 'index.js',
        host: '^9.0.0',
      }),
      'local/service-extension-a/index.js': `export default (router) => router.get('/', (req, res) => res.send('a'));`,
      'project/package.json': { dependencies: { '@acme/service-extension-b': '1' } },
      'project/node_modules/@acme/service-extension-b/package.json': createPackageJson('@acme/service-extension-b', {
        type: 'endpoint',
        path: 'index.js',
      }),
      'project/node_modules/@acme/service-extension-b/index.js': `export default (router) => router.get('/', (req, res) => res.send('b'));`,
    });
  });
  afterEach(() => place.remove());

  async function withService(
    env: Record<string, string>,
    work: (service: InProcessService) => Promise<void>,
  ): Promise<void> {
    const service = await startService({ env: { EXTENSIONS_PATH: `${place.path}/local`, ...env } });
    try {
      await work(service);
    } finally {
      await service.stop();
    }
  }

  it('installed packages load, browser code has a max-age, and EXTENSIONS_HOST_CHECK=strict refuses other hosts', () =>
    withService(
      { PACKAGE_FILE_LOCATION: `${place.path}/project`, EXTENSIONS_CACHE_TTL: '1m', EXTENSIONS_HOST_CHECK: 'strict' },
      async ({ request, admin: { token } }) => {
        const { body } = await request('GET', '/extensions', { token });
        expect(body.data.map((one: Record<string, unknown>) => [one.name, one.local, one.status])).to.deep.equal([
          ['@acme/service-extension-b', false, 'loaded'],
          ['service-extension-a', true, 'failed'],
        ]);
        expect(body.data[0].meta.source).to.equal('module');
        expect((await request('GET', '/b')).body).to.equal('b');
        const { headers } = await request('GET', '/extensions/sources/index.js');
        expect(headers.get('cache-control')).to.equal('public, max-age=60');
      },
    ));

  it('SAFE_MODE loads no extension', () =>
    withService({ SAFE_MODE: 'true' }, async ({ request, admin: { token } }) => {
      expect((await request('GET', '/extensions', { token })).body.data).to.deep.equal([]);
      expect((await request('GET', '/a')).status).to.equal(404);
      await request('POST', '/extensions/reload', { token });
      expect((await request('GET', '/a')).status).to.equal(404);
    }));
});
