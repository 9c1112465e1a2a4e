import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  reloadExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';

const NAME = 'service-extension-orders';
const CODE = renderConfinedEndpoint('orders', '() => ({ body: 1 })');
const confined = { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } };
const open = { runtime: undefined };
const bundle = (...entries: object[]) => ({
  type: 'bundle',
  entries: [{ type: 'endpoint', name: 'orders', source: 'index.js', capabilities: confined.capabilities }, ...entries],
});
const BUNDLE = `export default { 'endpoint:orders': { id: 'orders', handler: () => ({ body: 1 }) },
  'hook:spy': { id: 'spy', actions: { 'items.create': () => {} } } };`;

describe('attempts to bypass consent', () => {
  let packages: ConfinedPackageFolder;
  let database: FreshDatabase;
  let service: InProcessService;
  beforeEach(async () => {
    packages = await createConfinedPackageFolder();
    database = await createMigratedDatabase('consent');
  });
  afterEach(async () => {
    await service?.stop();
    await packages.remove();
    await database.drop();
  });

  const begin = async (manifest: object, code = CODE) => {
    await packages.put(NAME, manifest, code);
    service = await startService({ database, env: { EXTENSIONS_PATH: packages.path } });
    expect((await listExtensions(service))[NAME]?.status).to.equal('loaded');
  };
  const become = async (version: string, manifest: object, code = CODE) => {
    await packages.put(NAME, manifest, code, { version });
    await reloadExtensions(service);
    return (await listExtensions(service))[NAME];
  };
  const held = async (version: string, manifest: object, word: string, code = CODE) => {
    const row = await become(version, manifest, code);
    expect([row?.status, row?.reason?.code], JSON.stringify(row)).to.deep.equal(['failed', 'CONSENT_REQUIRED']);
    expect(row?.reason?.detail).to.include(word);
  };
  const agree = (more: object = {}) =>
    service.request('POST', '/extensions/consent', { token: service.admin.token, body: { name: NAME, ...more } });

  it('a confined package does not take full authority by leaving its runtime out', async () => {
    await begin(confined);
    const code = `globalThis.gotOut = true; export default (router) => router.get('/', (req, res) => res.send('out'));`;
    await held('2.0.0', { type: 'endpoint', ...open }, 'everything', code);
    expect(globalThis).not.to.have.property('gotOut');
    expect((await service.request('GET', '/orders')).status).to.equal(404);
    expect((await agree()).status).to.equal(200);
    expect((await listExtensions(service))[NAME]?.status).to.equal('loaded');
    expect((await service.request('GET', '/orders')).status).to.equal(200);
    // The package gives full authority up with version 3.0.0, so version 4.0.0 needs consent again.
    expect((await become('3.0.0', confined))?.status).to.equal('loaded');
    await held('4.0.0', { type: 'endpoint', ...open }, 'everything', code);
    Reflect.deleteProperty(globalThis, 'gotOut');
  });

  it('a hook, an operation or a bundle does not take full authority by leaving its runtime out either', async () => {
    await begin(confined);
    const hook = `export default () => { globalThis.gotOut = true; };`;
    await held('2.0.0', { type: 'hook', ...open }, 'everything', hook);
    await held('2.0.1', { type: 'operation', ...open }, 'everything', hook);
    await held(
      '2.0.2',
      { type: 'bundle', ...open, entries: [{ type: 'hook', name: 'x', source: 'index.js' }] },
      'everything',
      hook,
    );
    expect(globalThis).not.to.have.property('gotOut');
  });

  it('the browser code of a waiting package is not served', async () => {
    await begin(bundle(), BUNDLE);
    const chunk = async () => (await fetch(`${service.url}/extensions/sources/index.js`)).text();
    await writeFile(join(packages.path, NAME, 'app.js'), `console.log('in the browser'); export const panels = [];`);
    await held('2.0.0', bundle({ type: 'panel', name: 'chart', source: 'app.js' }), 'admin app', BUNDLE);
    expect(await chunk()).not.to.include('in the browser');
    await held('2.0.1', { type: 'interface', ...open, path: 'app.js', source: 'app.js' }, 'admin app');
    expect(await chunk()).not.to.include('in the browser');
  });

  it('an added bundle entry has none of the grants of the other entries', async () => {
    await begin(bundle(), BUNDLE);
    const spy = { type: 'hook', name: 'spy', source: 'index.js', events: { action: ['items.create'] } };
    await held('2.0.0', bundle(spy), 'hook:spy', BUNDLE);
  });

  it('a package with another name in the same folder needs consent', async () => {
    await begin(confined);
    const other = 'service-extension-others';
    const as = async (version: string, manifest: object, code: string) => {
      await packages.put(other, manifest, code, { version, folder: NAME });
      await reloadExtensions(service);
      return (await listExtensions(service))[other];
    };
    const more = { ...confined, capabilities: { ...confined.capabilities, items: { accountability: 'full-access' } } };
    expect((await as('2.0.0', more, renderConfinedEndpoint('others', '() => ({})')))?.reason?.code).to.equal(
      'CONSENT_REQUIRED',
    );
    const full = await as('2.0.1', { type: 'hook', ...open }, 'export default () => {};');
    expect(full?.reason?.code).to.equal('CONSENT_REQUIRED');
    expect((await as('2.0.2', confined, renderConfinedEndpoint('others', '() => ({})')))?.status).to.equal('loaded');
    expect((await as('2.0.3', more, renderConfinedEndpoint('others', '() => ({})')))?.reason?.code).to.equal(
      'CONSENT_REQUIRED',
    );
    expect((await agree()).status).to.equal(400);
    expect((await agree({ name: other })).status).to.equal(200);
    expect((await listExtensions(service))[other]?.status).to.equal('loaded');
  });

  it('a setting becomes a secret of the configuration or readable by the app only with consent', async () => {
    await begin({ ...confined, settings: { note: { type: 'string' } } });
    const config = { type: 'string', secret: { source: 'config' } };
    await held('2.0.0', { ...confined, settings: { note: { type: 'string' }, key: config } }, 'key');
    await held('2.0.1', { ...confined, settings: { note: { type: 'string', appReadable: true } } }, 'note');
    const more = { note: { type: 'string' }, colour: { type: 'string', appReadable: true } };
    expect((await become('2.0.2', { ...confined, settings: more }))?.status).to.equal('loaded');
  });

  it('consent with "asks" is valid only for exactly these sentences', async () => {
    await begin(confined);
    await held('2.0.0', { ...confined, capabilities: { ...confined.capabilities, log: true } }, 'log');
    const { body } = await service.request('GET', '/extensions/consent', { token: service.admin.token });
    const { asks } = body.data[0];
    await held(
      '2.0.0',
      { ...confined, capabilities: { ...confined.capabilities, log: true, template: true } },
      'templates',
    );
    const late = await agree({ asks });
    expect([late.status, late.body.errors?.[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect((await listExtensions(service))[NAME]?.status).to.equal('failed');
    const now = await service.request('GET', '/extensions/consent', { token: service.admin.token });
    expect((await agree({ asks: now.body.data[0].asks })).status).to.equal(200);
    expect((await listExtensions(service))[NAME]?.status).to.equal('loaded');
  });

  it('packages that were never confined load without consent', async () => {
    const code = `export default (router) => router.get('/', (req, res) => res.send('full'));`;
    await begin({ type: 'endpoint', ...open }, code);
    expect((await become('2.0.0', { type: 'hook', ...open }, 'export default () => {};'))?.status).to.equal('loaded');
  });
});
