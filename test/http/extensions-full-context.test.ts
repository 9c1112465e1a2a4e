import { expect } from 'chai';
import {
  BUNDLE_MANIFEST,
  CONFINED_RUNTIME,
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { listExtensions, reloadExtensions } from './confined-packages.ts';

const server = (type: string) => ({ type, path: 'dist/index.js', source: 'src/index.js' });
const LONG = 'service-extension-a-name-of-many-letters-which-is-longer-than-a-secret';

/** An endpoint that uses FilesService and SettingsService without accountability, and at /refused with that of the caller. */
const SERVICES = `export default (router, { services, getSchema }) => {
  const as = (accountability) => ({ schema: {}, accountability });
  router.get('/files', async (req, res, next) => {
    try {
      const { FilesService } = services;
      const files = new FilesService(as(null));
      const key = await files.uploadOne([Buffer.from('one')], { title: 'created', filename_download: 'a.txt', type: 'text/plain' });
      await files.uploadOne([Buffer.from('second')], { filename_download: 'a.txt', type: 'text/plain' }, key);
      const created = await files.readOne(key, { fields: ['title', 'filesize'] });
      await files.updateOne(key, { title: 'changed' });
      const changed = await files.readOne(key, { fields: ['title'] });
      await files.deleteOne(key);
      res.json({ created, changed, left: await files.readByQuery({ filter: { id: { _eq: key } } }) });
    } catch (error) { next(error); }
  });
  router.get('/settings', async (req, res, next) => {
    try {
      const settings = new services.SettingsService(as(null));
      await settings.upsertSingleton({ project_name: 'Harbour' });
      res.json(await settings.readSingleton({ fields: ['project_name'] }));
    } catch (error) { next(error); }
  });
  router.get('/refused', async (req, res, next) => {
    try { res.json(await new services.FilesService(as(req.accountability)).uploadOne([Buffer.from('x')], {})); }
    catch (error) { next(error); }
  });
};`;
const HOOK = `export default ({ filter, action }) => {
  const events = (globalThis.tenonLoginEvents ??= []);
  action('auth.login', (meta) => void events.push(meta));
  filter('request.not_found', (payload, { request, response }) => {
    if (payload === false && request.path === '/created-up') {
      response.status(202).json({ created: request.method });
      return true;
    }
    if (request.path === '/created-up/broken') throw new Error('a listener that fails');
  });
  filter('request.error', (errors) => {
    if (errors[0].extensions.code === 'INVALID_CREDENTIALS')
      return errors.map((error) => ({ ...error, message: 'Translated.', extensions: { ...error.extensions, more: 1 } }));
    if (errors[0].extensions.path === '/nothing-at-all') throw new Error('a listener that fails');
  });
};`;
const loginEvents = (): Record<string, unknown>[] => {
  const own = globalThis as { tenonLoginEvents?: Record<string, unknown>[] };
  own.tenonLoginEvents ??= [];
  return own.tenonLoginEvents;
};

describe('the context of code with full authority, and messages for authors', function () {
  this.timeout(60_000);
  let place: PackageFolder;
  let service: InProcessService;

  before(async () => {
    const request = (origin: string) => ({ capabilities: { ...access, request: { origins: [origin] } } });
    const access = { endpoint: { access: 'public' } };
    const held = { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME };
    const asking = (id: string) => `export default { id: '${id}', async handler(_request, { host }) {
      return { body: await host.request.send({ url: 'http://127.0.0.1:9/' }) };
    } };`;
    const sources = (code: string, name: string) => ({
      [`${name}/dist/index.js`]: code,
      [`${name}/src/index.js`]: code,
    });
    place = await createPackageFolder({
      'service-extension-services/package.json': createPackageJson('service-extension-services', server('endpoint')),
      'service-extension-services/dist/index.js': SERVICES,
      'service-extension-loginEvents/package.json': createPackageJson('service-extension-loginEvents', server('hook')),
      'service-extension-loginEvents/dist/index.js': HOOK,
      'service-extension-both/package.json': createPackageJson('service-extension-both', {
        ...BUNDLE_MANIFEST,
        entries: [
          { type: 'hook', name: 'quiet', source: 'src/quiet.js' },
          { type: 'panel', name: 'shown', source: 'src/shown.js' },
        ],
      }),
      'service-extension-both/dist/api.js': `export const hooks = [{ name: 'quiet', config: () => {} }];`,
      'service-extension-both/dist/app.js': `export const panels = [{ id: 'shown', name: 'A', component: {} }];`,
      'service-extension-half/package.json': createPackageJson('service-extension-half', {
        ...BUNDLE_MANIFEST,
        entries: [{ type: 'hook', name: 'loud', source: 'src/loud.js' }],
      }),
      'service-extension-half/dist/api.js': `export const hooks = [{ name: 'loud', config: () => { throw new Error('no'); } }];`,
      'service-extension-half/dist/app.js': '',
      'service-extension-port/package.json': createPackageJson('service-extension-port', {
        ...held,
        ...request('https://api.example.com:99999'),
      }),
      'service-extension-host/package.json': createPackageJson('service-extension-host', {
        ...held,
        ...request('https://999.1.1.1'),
      }),
      'service-extension-inside/package.json': createPackageJson('service-extension-inside', {
        ...held,
        ...request('http://127.0.0.1:9'),
      }),
      ...sources(asking('inside'), 'service-extension-inside'),
      [`${LONG}/package.json`]: createPackageJson(LONG, { ...held, capabilities: access }),
      ...sources(`export default { id: 'other', handler: () => ({ body: 1 }) };`, LONG),
      'service-extension-events/package.json': createPackageJson('service-extension-events', {
        ...server('hook'),
        ...CONFINED_RUNTIME,
        events: { filter: ['notes.items.create'] },
      }),
      ...sources(
        `export default { id: 'events', filters: { 'notes.items.create': (p) => p, 'notes.items.update': (p) => p } };`,
        'service-extension-events',
      ),
      'service-extension-upgraded/package.json': createPackageJson('service-extension-upgraded', {
        ...held,
        capabilities: access,
      }),
      ...sources(`export default { id: 'upgraded', handler: () => ({ body: 1 }) };`, 'service-extension-upgraded'),
    });
    service = await startService({ env: { EXTENSIONS_PATH: place.path, LOG_LEVEL: 'warn' } });
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  const get = (path: string, token: string | null = service.admin.token) => service.request('GET', path, { token });

  it('GET /extensions lists the entries of a bundle with full authority with their status', async () => {
    const rows = await listExtensions(service);
    expect(rows['service-extension-both']?.entries).to.deep.equal([
      { name: 'quiet', type: 'hook', status: 'loaded' },
      { name: 'shown', type: 'panel', status: 'loaded' },
    ]);
    expect(rows['service-extension-half']?.entries?.[0]).to.deep.include({ name: 'loud', status: 'failed' });
  });

  it('FilesService uploads bytes with the permissions of the given accountability', async () => {
    const { body } = await get('/services/files');
    expect(body).to.deep.equal({
      created: { title: 'created', filesize: '6' },
      changed: { title: 'changed' },
      left: [],
    });
    expect((await get('/services/refused', null)).status).to.equal(403);
  });

  it('SettingsService reads the settings of the project', async () => {
    expect((await get('/services/settings')).body).to.deep.equal({ project_name: 'Harbour' });
  });

  it('listeners of auth.login are called for failed sign-ins', async () => {
    loginEvents().length = 0;
    const login = (email: string, password: string) =>
      service.request('POST', '/auth/login', { body: { email, password } });
    await login(service.admin.email, 'wrong');
    await login('unknown@example.com', 'wrong');
    await login(service.admin.email, service.admin.password);
    await until(() => loginEvents().length >= 3);
    const [known, unknown, right] = loginEvents();
    expect(known).to.deep.include({ status: 'fail', provider: 'default', payload: { email: service.admin.email } });
    expect(known?.user).to.be.a('string');
    expect(known?.error).to.deep.include({ code: 'INVALID_CREDENTIALS' });
    expect(unknown).to.deep.include({ status: 'fail', payload: { email: 'unknown@example.com' } });
    expect(right).to.deep.include({ status: 'success' }).and.not.have.property('error');
    expect(JSON.stringify(loginEvents())).not.to.include('wrong');
  });

  it('a filter of request.not_found may answer instead of 404', async () => {
    const reply = await get('/created-up', null);
    expect([reply.status, reply.body]).to.deep.equal([202, { created: 'GET' }]);
    expect((await get('/created-up/other', null)).status).to.equal(404);
    expect((await get('/created-up/broken', null)).status).to.equal(500);
  });

  it('a filter of request.error changes the sent errors, and if it fails the original error is sent', async () => {
    const { status, body } = await get('/items/notes', 'no-token');
    expect(status).to.equal(401);
    expect(body.errors[0]).to.deep.include({ message: 'Translated.' });
    expect(body.errors[0].extensions).to.deep.equal({ code: 'INVALID_CREDENTIALS', more: 1 });
    const plain = await get('/nothing-at-all', null);
    expect([plain.status, plain.body.errors[0].extensions.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
  });

  it('a manifest with an impossible origin is MANIFEST_INVALID', async () => {
    const rows = await listExtensions(service);
    for (const [name, origin] of [
      ['service-extension-port', '99999'],
      ['service-extension-host', '999.1.1.1'],
    ] as const) {
      expect(rows[name]?.reason?.code, name).to.equal('MANIFEST_INVALID');
      expect(rows[name]?.reason?.detail)
        .to.match(/capabilities\.request\.origins\.0/)
        .and.include(origin);
    }
  });

  it('IDENTITY_MISMATCH names the expected id or the undeclared event', async () => {
    const rows = await listExtensions(service);
    expect(rows[LONG]?.reason?.code).to.equal('IDENTITY_MISMATCH');
    expect(rows[LONG]?.reason?.detail)
      .to.include(`"${LONG}"`)
      .and.include(`"${LONG.slice('service-extension-'.length)}"`);
    expect(rows[LONG]?.reason?.detail).to.include('"other"');
    expect(rows['service-extension-events']?.reason?.detail).to.include('"notes.items.update"');
  });

  it('the error for a private address names IMPORT_IP_ALLOW_LIST', async () => {
    expect((await get('/inside')).body.error.message).to.include('IMPORT_IP_ALLOW_LIST');
    const body = { url: 'http://127.0.0.1:9/a.txt' };
    const own = await service.request('POST', '/files/import', { token: service.admin.token, body });
    expect(own.status).to.equal(503);
    expect(own.body.errors[0].message).to.include('IMPORT_IP_ALLOW_LIST');
  });

  it('the reason of an upgrade to full authority says what to do', async () => {
    await place.write({
      'service-extension-upgraded/package.json': createPackageJson('service-extension-upgraded', server('endpoint')),
    });
    await reloadExtensions(service);
    const reason = (await listExtensions(service))['service-extension-upgraded']?.reason;
    expect(reason?.code).to.equal('CONSENT_REQUIRED');
    expect(reason?.detail)
      .to.include('may do everything')
      .and.match(/POST its name to extensions\/consent\.$/);
  });
});
