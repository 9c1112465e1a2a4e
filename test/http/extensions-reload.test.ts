import { cp, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createPackageFolder,
  createPackageJson,
  PANEL_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const endpoint = { type: 'endpoint', path: 'index.js' } as const;
const saying = (text: string) =>
  `export default (router) => router.get('/', (req, res) => res.send(${JSON.stringify(text)}));`;

describe('EXTENSIONS_AUTO_RELOAD', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;
  const get = (path: string) => service.request('GET', path);
  const answers = (path: string, body: unknown) => async () => (await get(path)).body === body;
  const names = async () =>
    (await service.request('GET', '/extensions', { token: service.admin.token })).body.data.map(
      (one: { name: string }) => one.name,
    );

  before(async () => {
    place = await createPackageFolder({
      'local/service-extension-old/package.json': createPackageJson('service-extension-old', endpoint),
      'local/service-extension-old/index.js': saying('old'),
    });
    service = await startService({
      env: { EXTENSIONS_PATH: join(place.path, 'local'), EXTENSIONS_AUTO_RELOAD: 'true' },
    });
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  it('an added extension answers within seconds', async () => {
    await place.write({
      'new/package.json': createPackageJson('service-extension-new', endpoint),
      'new/index.js': saying('new'),
    });
    expect((await get('/new')).status).to.equal(404);
    await cp(join(place.path, 'new'), join(place.path, 'local/service-extension-new'), { recursive: true });
    await until(answers('/new', 'new'));
    expect((await get('/old')).body).to.equal('old');
  });

  it('a changed extension answers with its new code, and a removed one no more', async () => {
    await place.write({ 'local/service-extension-new/index.js': saying('newer') });
    await until(answers('/new', 'newer'));
    await place.drop('local/service-extension-new');
    await until(async () => (await get('/new')).status === 404);
  });

  it('an extension that is copied slowly loads after its last file', async () => {
    await place.write({ 'local/service-extension-slow/index.js': saying('slow') });
    await until(async () => (await names()).includes('service-extension-slow'));
    expect((await get('/slow')).status).to.equal(404);
    await place.write({
      'local/service-extension-slow/package.json': createPackageJson('service-extension-slow', endpoint),
    });
    await until(answers('/slow', 'slow'));
  });

  it('a linked folder is watched like the others', async () => {
    await place.write({
      'work/package.json': createPackageJson('service-extension-work', endpoint),
      'work/index.js': saying('one'),
    });
    await symlink(join(place.path, 'work'), join(place.path, 'local/service-extension-work'));
    await until(answers('/work', 'one'));
    await place.write({ 'work/index.js': saying('two and more') });
    await until(answers('/work', 'two and more'));
  });

  it('changed browser code is served', async () => {
    await place.write({
      'panel/package.json': createPackageJson('service-extension-panel', PANEL_MANIFEST),
      'panel/dist/index.js': `export default { id: 'fresh-panel' };`,
    });
    await rename(join(place.path, 'panel'), join(place.path, 'local/service-extension-panel'));
    await until(async () => (await get('/extensions/sources/index.js')).body.includes('fresh-panel'));
  });

  it('a broken extension does not stop the others', async () => {
    await place.write({
      'local/service-extension-bad/package.json': createPackageJson('service-extension-bad', endpoint),
      'local/service-extension-bad/index.js': `throw new Error('no');`,
      'local/service-extension-worse/package.json': '{',
    });
    await until(async () => (await names()).includes('service-extension-worse'));
    expect((await get('/old')).body).to.equal('old');
  });
});

describe('extensions in two processes on one database', function () {
  this.timeout(120_000);

  it('POST /extensions/reload on one process reloads both', async () => {
    const places = await Promise.all([createPackageFolder(), createPackageFolder()]);
    const first = await startService({ env: { EXTENSIONS_PATH: places[0].path } });
    let second: InProcessService | undefined;
    try {
      second = await startService({ env: { EXTENSIONS_PATH: places[1].path }, database: first.database });
      for (const one of places) {
        await one.write({
          'service-extension-both/package.json': createPackageJson('service-extension-both', endpoint),
          'service-extension-both/index.js': saying('both'),
        });
      }
      await first.request('POST', '/extensions/reload', { token: first.admin.token });
      expect((await first.request('GET', '/both')).body).to.equal('both');
      const other = second;
      await until(async () => (await other.request('GET', '/both')).body === 'both');
    } finally {
      await second?.stop();
      await first.stop();
      for (const one of places) await one.remove();
    }
  });
});
