import { writeFileSync } from 'node:fs';
import { symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DiscoveredExtension } from '../../../plugins/extensions/contract.ts';
import { createExtensionFolders, discoverPackages } from '../../../plugins/extensions/discover/discover.ts';
import { fingerprintFolder } from '../../../plugins/extensions/discover/fingerprint.ts';
import {
  BUNDLE_MANIFEST,
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  OPERATION_MANIFEST,
  PANEL_MANIFEST,
  type PackageFolder,
} from './package-folder.ts';

const warned: string[] = [];
const deps: Parameters<typeof discoverPackages>[1] = {
  subjects: { findProblems: () => [] },
  settings: { parseDeclaration: () => ({ problems: [], declaration: {} }) },
  config: { EXTENSIONS_HOST_CHECK: 'warn' },
  warn: (name, what) => void warned.push(`${name}: ${what}`),
  isReservedName: (name) => name === '@tenon/items',
};
const short = ({ name, type, local, failure }: DiscoveredExtension) =>
  [name, String(type), local ? 'local' : 'installed', ...(failure ? [failure.code] : [])].join(' ');

describe('discoverPackages', () => {
  let place: PackageFolder;
  const find = () => discoverPackages({ local: join(place.path, 'local'), project: join(place.path, 'project') }, deps);
  const found = async () => (await find()).map(short);
  beforeEach(async () => {
    place = await createPackageFolder();
    warned.length = 0;
  });
  afterEach(() => place.remove());

  it('missing folders give no extension', async () => {
    expect(await found()).to.deep.equal([]);
  });

  it('installed packages are found by dependency names, before local ones', async () => {
    await place.write({
      'project/package.json': {
        dependencies: {
          'service-extension-a': '1',
          '@acme/service-extension-b': '1',
          '@service/extension-c': '1',
          koa: '3',
        },
        devDependencies: { 'service-extension-no': '1' },
      },
      'project/node_modules/service-extension-a/package.json': createPackageJson('service-extension-a', PANEL_MANIFEST),
      'project/node_modules/@acme/service-extension-b/package.json': createPackageJson(
        '@acme/service-extension-b',
        ENDPOINT_MANIFEST,
      ),
      'project/node_modules/service-extension-no/package.json': createPackageJson(
        'service-extension-no',
        PANEL_MANIFEST,
      ),
      'local/service-extension-z/package.json': createPackageJson('service-extension-z', PANEL_MANIFEST),
    });
    expect(await found()).to.deep.equal([
      '@acme/service-extension-b endpoint installed',
      '@service/extension-c null installed DISCOVERY_FAILED',
      'service-extension-a panel installed',
      'service-extension-z panel local',
    ]);
    const [b] = await find();
    expect(b).to.deep.include({ version: '1.0.0', files: { api: join(b?.folder ?? '', 'dist/index.js') } });
  });

  it('package folders are found by their name or by the key in package.json', async () => {
    await place.write({
      'local/service-extension-a/package.json': createPackageJson('@acme/service-extension-a', bundle2()),
      'local/anything/package.json': createPackageJson('service-extension-b', OPERATION_MANIFEST),
      'local/@acme/service-extension-c/package.json': createPackageJson('@acme/service-extension-c', PANEL_MANIFEST),
      'local/@acme/other/package.json': createPackageJson('other', PANEL_MANIFEST),
      'local/a-library/package.json': { name: 'a-library', version: '1.0.0' },
      'local/broken-library/package.json': '{',
      'local/notes/readme.txt': 'nothing to see',
      'local/.hidden/package.json': createPackageJson('service-extension-hidden', PANEL_MANIFEST),
      'local/node_modules/package.json': createPackageJson('service-extension-modules', PANEL_MANIFEST),
      'local/a-plugin/package.json': createPackageJson('a-plugin', { type: 'plugin', path: 'index.js' }),
      'local/service-extension-file': 'a file',
    });
    expect(await found()).to.deep.equal([
      '@acme/service-extension-c panel local',
      'service-extension-b operation local',
      '@acme/service-extension-a bundle local',
    ]);
    const all = await find();
    expect(all[1]?.files).to.deep.equal({
      app: join(place.path, 'local/anything/dist/app.js'),
      api: join(place.path, 'local/anything/dist/api.js'),
    });
    expect(new Set(all.map(({ id }) => id)).size).to.equal(3);
    expect(all[0]?.id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await find()).map(({ id }) => id)).to.deep.equal(all.map(({ id }) => id));
  });

  it('single files are found by type folder, the first of .cjs, .mjs and .js', async () => {
    await place.write({
      'local/hooks/one/index.js': '',
      'local/hooks/one/index.cjs': '',
      'local/endpoints/two/index.mjs': '',
      'local/operations/three/app.js': '',
      'local/operations/three/api.mjs': '',
      'local/operations/four/api.js': '',
      'local/panels/five/index.js': '',
      'local/item-views/six/index.js': '',
      'local/hooks/seven/other.js': '',
      'local/hooks/.eight/index.js': '',
      'local/hooks/nine.js': '',
      'local/themes/ten/index.js': '',
    });
    const all = await find();
    expect(all.map(short)).to.deep.equal([
      'five panel local',
      'six item-view local',
      'one hook local',
      'seven hook local',
      'two endpoint local',
      'four operation local',
      'three operation local',
    ]);
    const files = all.map((one) => Object.values(one.files).map((path) => path.slice(one.folder.length + 1)));
    expect(files).to.deep.equal([
      ['index.js'],
      ['index.js'],
      ['index.cjs'],
      [],
      ['index.mjs'],
      ['api.js'],
      ['app.js', 'api.mjs'],
    ]);
    for (const one of all) {
      expect(one).not.to.have.property('version');
      expect(one).not.to.have.property('manifest');
    }
  });

  it('links are followed, and a broken one is a failure', async () => {
    await place.write({
      'elsewhere/package.json': createPackageJson('service-extension-linked', PANEL_MANIFEST),
      'local/x': '',
    });
    await symlink(join(place.path, 'elsewhere'), join(place.path, 'local/service-extension-linked'));
    await symlink(join(place.path, 'nowhere'), join(place.path, 'local/service-extension-lost'));
    await symlink(join(place.path, 'local/service-extension-ring'), join(place.path, 'local/service-extension-ring'));
    await symlink(join(place.path, 'nowhere'), join(place.path, 'local/whatever'));
    expect(await found()).to.deep.equal([
      'service-extension-linked panel local',
      'service-extension-lost null local DISCOVERY_FAILED',
      'service-extension-ring null local DISCOVERY_FAILED',
    ]);
  });

  it('each broken package has a failure of its own', async () => {
    await place.write({
      'local/service-extension-a/package.json': '{"name": ',
      'local/service-extension-b/index.js': '',
      'local/service-extension-c/package.json': '[]',
      'local/service-extension-d/package.json': createPackageJson(
        '@x/service-extension-d',
        { type: 'hook' },
        { version: '2.0.0' },
      ),
      'local/service-extension-e/package.json/file': 'a folder',
      'local/service-extension-f/package.json': createPackageJson('service-extension-f', PANEL_MANIFEST),
    });
    expect(await found()).to.deep.equal([
      'service-extension-a null local MANIFEST_INVALID',
      'service-extension-b null local MANIFEST_INVALID',
      'service-extension-c null local MANIFEST_INVALID',
      '@x/service-extension-d null local MANIFEST_INVALID',
      'service-extension-e null local MANIFEST_INVALID',
      'service-extension-f panel local',
    ]);
    expect((await find())[3]).to.deep.include({ version: '2.0.0' });
  });

  it('a source that cannot be read has a placeholder row', async () => {
    await place.write({ local: 'a file', 'project/package.json': 'no JSON' });
    expect(await found()).to.deep.equal([
      '(extension discovery) null local MANIFEST_INVALID',
      '(local extensions) null local DISCOVERY_FAILED',
    ]);
  });

  it('two packages of one name have different ids', async () => {
    await place.write({
      'local/one/package.json': createPackageJson('service-extension-a', PANEL_MANIFEST),
      'local/two/package.json': createPackageJson('service-extension-a', PANEL_MANIFEST),
    });
    const all = await find();
    expect(all.map(({ name }) => name)).to.deep.equal(['service-extension-a', 'service-extension-a']);
    expect(all[0]?.id).not.to.equal(all[1]?.id);
  });

  it('a package with the name of a core plugin is MANIFEST_INVALID', async () => {
    await place.write({
      'local/a/package.json': createPackageJson('@tenon/items', ENDPOINT_MANIFEST),
      'local/hooks/b/index.js': '',
    });
    expect(await found()).to.deep.equal(['@tenon/items endpoint local MANIFEST_INVALID', 'b hook local']);
  });

  it('code with full authority for another host gives a warning', async () => {
    await place.write({
      'local/a/package.json': createPackageJson('service-extension-a', { ...ENDPOINT_MANIFEST, host: '^10.0.0' }),
    });
    expect(await found()).to.deep.equal(['service-extension-a endpoint local']);
    expect(warned).to.have.length(1);
  });

  it('prepareFolders creates a folder for each type, or logs a warning', async () => {
    const warnings: string[] = [];
    const log = { warn: (_what: object, text: string) => void warnings.push(text) } as never;
    await createExtensionFolders(join(place.path, 'new/local'), log);
    await place.write({ 'new/local/hooks/a/index.js': '' });
    expect(
      (await discoverPackages({ local: join(place.path, 'new/local'), project: place.path }, deps)).map(short),
    ).to.deep.equal(['a hook local']);
    await place.write({ file: '' });
    await createExtensionFolders(join(place.path, 'file'), log);
    expect(warnings).to.have.length(1);
  });

  it('a changed file changes the revision of its package only', async () => {
    await place.write({
      'local/a/package.json': createPackageJson('service-extension-a', PANEL_MANIFEST),
      'local/a/dist/index.js': '1',
    });
    const revision = async () => (await find())[0]?.revision;
    const first = await revision();
    await place.write({ 'local/a/node_modules/x/index.js': '', 'local/b.txt': '' });
    expect(await revision()).to.equal(first);
    await place.write({ 'local/a/dist/index.js': '22' });
    const second = await revision();
    expect(second).not.to.equal(first);
    await utimes(join(place.path, 'local/a/dist/index.js'), new Date(0), new Date(0));
    expect(await revision()).not.to.equal(second);
  });

  it('a file that changes during discovery changes the revision of the next discovery', async () => {
    const settings = { a: { type: 'string' } };
    await place.write({
      'local/a/package.json': createPackageJson('service-extension-a', { ...PANEL_MANIFEST, settings }),
    });
    const changing = {
      parseDeclaration: () => {
        writeFileSync(join(place.path, 'local/a/late.js'), '1');
        return { problems: [], declaration: {} };
      },
    };
    const places = { local: join(place.path, 'local'), project: place.path };
    const [first] = await discoverPackages(places, { ...deps, settings: changing });
    expect((await find())[0]?.revision).not.to.equal(first?.revision);
  });

  it('fingerprint ends for a folder that contains a link to itself', async () => {
    await place.write({ 'a/b/file': '' });
    await symlink(join(place.path, 'a'), join(place.path, 'a/b/again'));
    expect(await fingerprintFolder(place.path)).to.match(/^[\w-]{16}$/);
  });
});

const bundle2 = () => ({ ...BUNDLE_MANIFEST, entries: [] });
