import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import {
  CONFINED_RUNTIME,
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { runCli } from '../support/service.ts';

describe('the output of a command', function () {
  this.timeout(60_000);
  let place: PackageFolder;

  before(async () => {
    const names = Array.from({ length: 300 }, (_one, at) => `service-extension-${at}`);
    const manifest = { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { endpoint: { access: 'public' } } };
    place = await createPackageFolder(
      Object.fromEntries(names.map((name) => [`${name}/package.json`, createPackageJson(name, manifest)])),
    );
  });
  after(() => place?.remove());

  it('is complete for a program that begins to read it late', async () => {
    const { child, ended, standardOutput } = runCli(['audit', '--json'], {
      EXTENSIONS_PATH: place.path,
      LOG_LEVEL: 'silent',
    });
    child.stdout?.pause();
    await Promise.race([once(child, 'exit'), pause(3000)]);
    child.stdout?.resume();
    expect(await ended).to.equal(0);
    expect(JSON.parse(standardOutput())).to.have.length.above(300);
  });
});
