import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';

describe('confined packages copied into EXTENSIONS_PATH of a running service', function () {
  this.timeout(120_000);
  let ready: ConfinedPackageFolder;
  let local: ConfinedPackageFolder;
  let service: SpawnedService;
  const publicly = { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } };
  const answers = (path: string, body: unknown) => async () => (await service.request('GET', path)).body === body;
  const drop = (folder: string) => cp(join(ready.path, folder), join(local.path, folder), { recursive: true });
  const row = async (name: string) => (await listExtensions(service))[name];
  const runtime = async () =>
    (await service.request('GET', '/extensions', { token: service.admin.token })).body.meta.confinedRuntime;

  before(async () => {
    ready = await createConfinedPackageFolder();
    local = await createConfinedPackageFolder();
    for (const name of ['first', 'second']) {
      await ready.put(
        `service-extension-${name}`,
        publicly,
        renderConfinedEndpoint(name, `() => ({ body: '${name}' })`),
      );
    }
    await ready.put(
      'service-extension-broken',
      publicly,
      `import { readFile } from 'node:fs/promises'; export default { id: 'broken', handler: () => readFile('/etc/passwd') };`,
    );
    service = await spawnService({ env: { EXTENSIONS_PATH: local.path, EXTENSIONS_AUTO_RELOAD: 'true' } });
  });
  after(async () => {
    await service?.stop();
    await ready?.remove();
    await local?.remove();
  });

  it('a copied package answers within seconds, also the first one of the process', async () => {
    expect(await runtime()).to.deep.equal({ state: 'not-required', posture: null });
    for (const name of ['first', 'second']) {
      expect((await service.request('GET', `/${name}`)).status).to.equal(404);
      await drop(`service-extension-${name}`);
      await until(answers(`/${name}`, name));
      expect(await row(`service-extension-${name}`)).to.include({ status: 'loaded', runtime: 'confined-server' });
    }
    expect((await runtime()).state).to.equal('available');
  });

  it('a broken package has a reason with a remedy, and the others keep running', async () => {
    await drop('service-extension-broken');
    await until(async () => (await row('service-extension-broken')) !== undefined);
    const broken = await row('service-extension-broken');
    expect(broken).to.include({ type: 'endpoint', status: 'failed', local: true, runtime: 'confined-server' });
    expect(broken?.reason).to.deep.equal({
      code: 'USES_RAW_FS',
      detail: '"index.js" imports "node:fs/promises": confined code has no files, so keep data in items or settings.',
    });
    expect((await service.request('GET', '/broken')).status).to.equal(404);
    expect((await service.request('GET', '/first')).body).to.equal('first');
  });

  it('a corrected package answers, and a removed one answers no more', async () => {
    await local.put('service-extension-broken', publicly, renderConfinedEndpoint('broken', `() => ({ body: 'well' })`));
    await until(answers('/broken', 'well'));
    expect(await row('service-extension-broken')).not.to.have.property('reason');
    await rm(join(local.path, 'service-extension-broken'), { recursive: true });
    await until(async () => (await row('service-extension-broken')) === undefined);
    expect((await service.request('GET', '/broken')).status).to.equal(404);
  });
});
