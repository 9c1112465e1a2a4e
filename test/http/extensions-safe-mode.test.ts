import { expect } from 'chai';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { spawnService } from '../support/service.ts';
import { createConfinedPackageFolder, renderConfinedEndpoint } from './confined-packages.ts';

describe('a service that was started with --safe', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  before(async () => {
    place = await createPackageFolder({
      'a-plugin/package.json': createPackageJson('a-plugin', { type: 'plugin', path: 'index.ts' }),
      'a-plugin/index.ts': `process.stdout.write('the plugin ran\\n'); export default { register() {} };`,
      'service-extension-full/package.json': createPackageJson('service-extension-full', {
        type: 'endpoint',
        path: 'index.js',
      }),
      'service-extension-full/index.js': `process.stdout.write('the extension ran\\n'); export default () => {};`,
    });
    const confined = { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } };
    await (await createConfinedPackageFolder(place.path)).put(
      'service-extension-a',
      confined,
      renderConfinedEndpoint('a', '() => ({ body: 1 })'),
    );
  });
  after(() => place?.remove());

  for (const args of [
    ['up', '--safe'],
    ['--safe', 'up'],
  ]) {
    it(`no third-party package is loaded (${args.join(' ')}), also by a reload`, async () => {
      const env = { EXTENSIONS_PATH: place.path, EXTENSIONS_AUTO_RELOAD: 'true', LOG_LEVEL: 'warn' };
      const service = await spawnService({ args, env });
      try {
        const { token } = service.admin;
        await service.request('POST', '/extensions/reload', { token });
        const { body } = await service.request('GET', '/extensions', { token });
        expect(body).to.deep.equal({ data: [], meta: { confinedRuntime: { state: 'not-required', posture: null } } });
        expect((await service.request('GET', '/a')).status).to.equal(404);
        expect((await service.request('GET', '/items/nothing', { token })).status).to.equal(404);
        expect(service.output())
          .to.match(/SAFE_MODE is on/)
          .and.not.match(/ran/);
      } finally {
        await service.stop();
      }
    });
  }
});
