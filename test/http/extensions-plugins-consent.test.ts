import { expect } from 'chai';
import { renderAuthorities } from '../../plugins/broker/library.ts';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { listExtensions, reloadExtensions } from './confined-packages.ts';

const NAME = 'acme-reports';
const EMPTY = 'export default { register() {} };';
const LISTENING = { capabilities: { events: { action: ['items.create'] } } };
const LISTENING_MORE = { capabilities: { events: { action: ['items.create', 'items.update'] } } };

describe('consent for third-party plugins', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let database: FreshDatabase;
  const running: InProcessService[] = [];

  beforeEach(async () => {
    place = await createPackageFolder();
    database = await createMigratedDatabase('plugins');
  });
  afterEach(async () => {
    for (const service of running.splice(0)) await service.stop();
    await place.remove();
    await database.drop();
  });

  const pluginOf = (name: string, manifest: object, version = '1.0.0') =>
    createPackageJson(name, { type: 'plugin', path: 'index.js', ...manifest }, { version });
  const put = (version: string, manifest: object = {}) =>
    place.write({ [`${NAME}/package.json`]: pluginOf(NAME, manifest, version), [`${NAME}/index.js`]: EMPTY });
  const start = async (env: Record<string, string> = {}): Promise<InProcessService> => {
    const service = await startService({ database, env: { EXTENSIONS_PATH: place.path, ...env } });
    running.push(service);
    return service;
  };
  const stop = async () => {
    for (const service of running.splice(0)) await service.stop();
  };
  const waiting = async (service: InProcessService) =>
    (await service.request('GET', '/extensions/consent', { token: service.admin.token })).body.data;
  const agree = (service: InProcessService, token: string | null = service.admin.token) =>
    service.request('POST', '/extensions/consent', { token, body: { name: NAME } });
  const loadedIn = ({ kernel }: InProcessService) => kernel.plugins.some(({ name }) => name === NAME);

  it('installing a plugin is consent, and it is listed and audited as FULL', async () => {
    await put('1.0.0', LISTENING);
    const service = await start();
    const row = (await listExtensions(service))[NAME];
    expect(row).to.deep.include({ name: NAME, type: 'plugin', status: 'loaded', local: true, version: '1.0.0' });
    expect(row).not.to.have.property('reason');
    expect(row?.meta).to.deep.include({ source: 'local', folder: NAME });
    const line = service.kernel.audit().find(({ name }) => name === NAME);
    expect(line?.runtime).to.equal('full');
    expect(renderAuthorities(line?.authorities ?? [])).to.include('listens to items.create');
  });

  it('EXTENSIONS_CONSENT=always holds the first version until an admin agrees, which loads it', async () => {
    await put('1.0.0', LISTENING);
    const service = await start({ EXTENSIONS_CONSENT: 'always' });
    expect(loadedIn(service)).to.equal(false);
    const row = (await listExtensions(service))[NAME];
    expect(row).to.deep.include({ type: 'plugin', status: 'failed', version: '1.0.0' });
    expect(row?.reason?.code).to.equal('CONSENT_REQUIRED');
    expect(await waiting(service)).to.deep.equal([
      {
        name: NAME,
        version: '1.0.0',
        asks: [
          'runs in this process with full authority: what its manifest declares does not confine it',
          'listens to items.create',
        ],
      },
    ]);
    expect((await agree(service, null)).status).to.equal(403);
    expect((await agree(service)).status).to.equal(200);
    expect(loadedIn(service)).to.equal(true);
    expect((await listExtensions(service))[NAME]).to.deep.include({ status: 'loaded' });
    expect(await waiting(service)).to.deep.equal([]);
    await stop();
    expect(loadedIn(await start({ EXTENSIONS_CONSENT: 'always' }))).to.equal(true);
  });

  it('a version that requests more waits, and its sentences name only what is added', async () => {
    await put('1.0.0', LISTENING);
    await start();
    await stop();
    await put('1.1.0', LISTENING_MORE);
    const service = await start();
    expect(loadedIn(service)).to.equal(false);
    expect((await listExtensions(service))[NAME]?.reason?.code).to.equal('CONSENT_REQUIRED');
    expect((await waiting(service))[0].asks).to.deep.equal(['listens to items.update']);
    await agree(service);
    expect(loadedIn(service)).to.equal(true);
  });

  it('a plugin with another name in the same folder waits', async () => {
    await put('1.0.0', LISTENING);
    await start();
    await stop();
    await place.write({ [`${NAME}/package.json`]: pluginOf('acme-other', LISTENING_MORE) });
    const service = await start();
    expect((await waiting(service))[0]).to.deep.include({ name: 'acme-other', asks: ['listens to items.update'] });
  });

  it('a version that requests less loads, and having it back needs consent again', async () => {
    await put('1.0.0', LISTENING_MORE);
    await start();
    await stop();
    await put('1.1.0', LISTENING);
    expect(loadedIn(await start())).to.equal(true);
    await stop();
    await put('1.2.0', LISTENING_MORE);
    expect(loadedIn(await start())).to.equal(false);
  });

  it('EXTENSIONS_CONSENT=off loads every version', async () => {
    await put('1.0.0', LISTENING);
    await start({ EXTENSIONS_CONSENT: 'off' });
    await stop();
    await put('1.1.0', LISTENING_MORE);
    expect(loadedIn(await start({ EXTENSIONS_CONSENT: 'off' }))).to.equal(true);
  });

  it('SAFE_MODE loads and lists no plugin', async () => {
    await put('1.0.0', LISTENING);
    const service = await start({ SAFE_MODE: 'true' });
    expect(loadedIn(service)).to.equal(false);
    expect(await listExtensions(service)).to.deep.equal({});
  });

  it('GET /extensions shows why a broken plugin does not load, without paths', async () => {
    await place.write({
      'a-manifest/package.json': pluginOf('a-manifest', { capabilities: { nonsense: true } }),
      'a-manifest/index.js': EMPTY,
      'b-register/package.json': pluginOf('b-register', {}),
      'b-register/index.js': `export default { register() { throw new Error('broken by /etc/secret'); } };`,
      'c-version/package.json': pluginOf('c-version', { host: '^9.0.0' }),
      'd-text/package.json': '{ "service:extension": { "type": "plugin" } }',
    });
    const rows = await listExtensions(await start());
    const codes = Object.values(rows).map(({ name, status, reason }) => [name, status, reason?.code]);
    expect(codes).to.have.deep.members([
      ['a-manifest', 'failed', 'MANIFEST_INVALID'],
      ['b-register', 'failed', 'REGISTRATION_FAILED'],
      ['c-version', 'failed', 'MANIFEST_INVALID'],
      ['d-text', 'failed', 'MANIFEST_INVALID'],
    ]);
    expect(rows['b-register']?.reason?.detail).to.match(/^broken by <path>/);
  });

  it('a reload loads added plugins and unloads removed ones', async () => {
    const service = await start();
    await put('1.0.0', LISTENING);
    await reloadExtensions(service);
    expect(loadedIn(service)).to.equal(true);
    expect(service.kernel.countOf(NAME)).to.deep.equal({ facets: 0, listeners: 0 });
    await place.drop(NAME);
    await reloadExtensions(service);
    expect(loadedIn(service)).to.equal(false);
    expect(await listExtensions(service)).to.deep.equal({});
  });

  it('a reload in one process loads and unloads plugins in all processes', async () => {
    const [one, two] = [await start(), await start()];
    await put('1.0.0', LISTENING);
    await reloadExtensions(one);
    expect(loadedIn(one)).to.equal(true);
    await until(() => loadedIn(two));
    await place.drop(NAME);
    await reloadExtensions(two);
    await until(() => !loadedIn(one));
  });

  it('EXTENSIONS_AUTO_RELOAD loads and unloads plugins without a request', async () => {
    const service = await start({ EXTENSIONS_AUTO_RELOAD: 'true' });
    await put('1.0.0', LISTENING);
    await until(() => loadedIn(service));
    await place.drop(NAME);
    await until(() => !loadedIn(service));
  });
});
