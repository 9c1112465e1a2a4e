import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { ExtensionAppBundle, ExtensionAppPart, ExtensionType } from '../../../plugins/extensions/contract.ts';
import { createExtensionAppBundle } from '../../../plugins/extensions-app/app-bundle.ts';
import { createPackageFolder, type PackageFolder, stopBundlerAfterTests } from '../extensions/package-folder.ts';

const log = { error: () => {}, warn: () => {} } as never;

describe('createExtensionAppBundle', () => {
  let place: PackageFolder;
  let app: ExtensionAppBundle;
  let revision = 0;
  beforeEach(async () => {
    place = await createPackageFolder();
    app = createExtensionAppBundle(log);
  });
  afterEach(() => place.remove());
  stopBundlerAfterTests();

  /** Writes a package whose browser half is this file; without `text` the file is missing. */
  async function half(name: string, type: ExtensionType, text?: string, file = 'app.js'): Promise<ExtensionAppPart> {
    if (text !== undefined) await place.write({ [`${name}/${file}`]: text });
    else await mkdir(join(place.path, name), { recursive: true });
    const folder = join(place.path, name);
    return { id: name, name, type, folder, file: join(folder, file), revision: String(++revision) };
  }

  /** Evaluates the served chunks as a browser would. */
  // biome-ignore lint/suspicious/noExplicitAny: a module of a test
  async function run(): Promise<Record<string, any[]>> {
    const out = join(place.path, `out-${++revision}`);
    await mkdir(out);
    const pending = ['index.js'];
    for (const name of pending) {
      const text = app.chunk(name) as string;
      await writeFile(join(out, name), text);
      for (const [, other] of text.matchAll(/["']\.\/([\w.-]+\.js)["']/g)) {
        if (!pending.includes(other as string)) pending.push(other as string);
      }
    }
    await writeFile(join(out, 'package.json'), '{"type":"module"}');
    return import(pathToFileURL(join(out, 'index.js')).href);
  }

  const ids = (list: readonly { id: string }[] | undefined) => list?.map(({ id }) => id);

  it('without halves it exports empty lists and starts no bundler', async () => {
    const lists = {
      displays: [],
      interfaces: [],
      itemViews: [],
      layouts: [],
      modules: [],
      operations: [],
      panels: [],
      themes: [],
    };
    expect({ ...(await run()) }).to.deep.equal(lists);
    expect((await app.build([])).failed.size).to.equal(0);
    expect({ ...(await run()) }).to.deep.equal(lists);
  });

  it('it exports definitions and the lists of bundles by type', async () => {
    const built = await app.build([
      await half('a', 'interface', `import { b } from './b.js'; export default { id: b };`),
      await half('b', 'item-view', `export default { id: 'view' };`),
      await half('c', 'operation', `module.exports = { default: { id: 'op' } };`, 'app.cjs'),
      await half(
        'd',
        'bundle',
        `export const interfaces = [{ id: 'd1' }], panels = [{ id: 'd2' }], operations = 'no';`,
      ),
      { ...(await half('e', 'module', `export default { id: 'e' };`)), name: `it's "e"\n` },
      await half('f', 'panel', `export const nothing = 1;`),
    ]);
    expect(built.failed.size).to.equal(1);
    await place.write({ 'a/b.js': `export const b = 'inner';` });
    expect((await app.build([await half('a', 'interface')])).failed.size).to.equal(0);
    expect(ids((await run()).interfaces)).to.deep.equal(['inner']);
    await app.build([
      await half('a', 'interface'),
      await half('b', 'item-view'),
      await half('c', 'operation', undefined, 'app.cjs'),
      await half('d', 'bundle'),
      { ...(await half('e', 'module')), name: `it's "e"\n` },
      await half('f', 'panel'),
    ]);
    const { interfaces, itemViews, operations, panels, modules, displays } = await run();
    expect([interfaces, itemViews, operations, panels, modules, displays].map(ids)).to.deep.equal([
      ['inner', 'd1'],
      ['view'],
      ['op'],
      ['d2'],
      ['e'],
      [],
    ]);
  });

  it('a dynamic import becomes a chunk of its own', async () => {
    await place.write({ 'a/later.js': `export const later = 'here';` });
    await app.build([
      await half('a', 'module', `export default { id: 'a', load: async () => (await import('./later.js')).later };`),
    ]);
    const { modules } = await run();
    expect(await modules?.[0].load()).to.equal('here');
    expect(app.chunk('index.js')).to.be.a('string').and.not.to.include('here');
    expect(app.chunk('index.js')).not.to.include(place.path.split('/').at(-1));
    expect(app.chunk('index.js.map')).to.equal(undefined);
    expect(app.chunk('__proto__')).to.equal(undefined);
  });

  it('shared modules of the admin app stay imports', async () => {
    const { failed } = await app.build([
      await half(
        'a',
        'panel',
        `import { ref } from 'vue'; import { x } from '@tenon/extension-sdk/app'; export default { ref, x };`,
      ),
      await half('b', 'panel', `import { ref } from 'vue'; import y from 'pinia'; export default { ref, y };`),
    ]);
    expect([...failed.keys()]).to.deep.equal([]);
    for (const name of ['vue', 'pinia', '@tenon/extension-sdk/app']) {
      expect(app.chunk('index.js')).to.match(new RegExp(`from ?"${name}"`));
    }
  });

  it('broken halves are left out with a failure, and the others are served', async () => {
    const { failed, failure } = await app.build([
      await half('good', 'panel', `export default { id: 'good' };`),
      await half('syntax', 'panel', `export default {`),
      await half('missing', 'panel', `import x from 'not-there'; export default x;`),
      await half('absent', 'panel'),
      await half('throws', 'panel', `throw new Error('no'); export default { id: 'throws' };`),
      await half('waits', 'panel', `const id = await Promise.resolve('waits'); export default { id };`),
    ]);
    expect(failure).to.equal(undefined);
    expect([...failed].map(([id, { code }]) => `${id} ${code}`)).to.have.members([
      'absent ENTRYPOINT_NOT_FOUND',
      'missing BUNDLE_BUILD_FAILED',
      'syntax BUNDLE_BUILD_FAILED',
    ]);
    const error = console.error;
    const consoleErrors: unknown[] = [];
    console.error = (...all) => void consoleErrors.push(all[0]);
    try {
      expect(ids((await run()).panels)).to.deep.equal(['good', 'waits']);
    } finally {
      console.error = error;
    }
    expect(consoleErrors).to.deep.equal(['The extension throws cannot be loaded.']);
  });

  it('files outside of the package are never bundled, also through paths and links', async () => {
    await place.write({ 'secret.json': { secret: 'hunter2' }, 'secret.txt': 'hunter2' });
    const linked = await half('linked', 'panel', `import s from './inner.json'; export default s;`);
    await symlink(join(place.path, 'secret.json'), join(place.path, 'linked/inner.json'));
    const itself = await half('itself', 'panel');
    await symlink(join(place.path, 'secret.json'), join(place.path, 'itself/app.js'));
    const { failed } = await app.build([
      await half('up', 'panel', `import s from '../secret.json'; export default s;`),
      await half('text', 'panel', `import s from '../secret.txt'; export default s;`),
      await half('whole', 'panel', `import s from '${place.path}/secret.json'; export default s;`),
      await half('later', 'panel', `export default () => import('../secret.json');`),
      await half('neighbour', 'panel', `export { default } from '../good/app.js';`),
      linked,
      itself,
      await half('good', 'panel', `export default { id: 'good' };`),
    ]);
    expect([...failed.keys()].sort()).to.deep.equal(['itself', 'later', 'linked', 'neighbour', 'text', 'up', 'whole']);
    expect(app.chunk('index.js')).not.to.include('hunter2');
    expect(ids((await run()).panels)).to.deep.equal(['good']);
  });

  it('a failed build is reported, and the previous chunks are still served', async () => {
    let fails = false;
    const bundle = createExtensionAppBundle(log, async () => {
      if (fails) throw new Error('no bundler');
      return new Map([['index.js', 'first']]);
    });
    await bundle.build([await half('a', 'panel', '')]);
    fails = true;
    const { failed } = await bundle.build([await half('a', 'panel')]);
    expect([...failed.values()].map(({ code }) => code)).to.deep.equal(['BUNDLE_BUILD_FAILED']);
    let calls = 0;
    const odd = createExtensionAppBundle(log, async (parts) => {
      if (parts.length > 1) throw new Error('only together');
      calls++;
      return new Map([['index.js', 'one']]);
    });
    const { failure } = await odd.build([await half('a', 'panel'), await half('b', 'panel', '')]);
    expect([failure?.code, calls]).to.deep.equal(['BUNDLE_BUILD_FAILED', 2]);
    expect(odd.chunk('index.js')).to.match(/export const panels/);
    expect(bundle.chunk('index.js')).to.match(/export const panels/);
  });

  it('unchanged halves are not built again', async () => {
    let builds = 0;
    const bundle = createExtensionAppBundle(log, async () => new Map([['index.js', String(++builds)]]));
    const one = await half('a', 'panel', '');
    await bundle.build([one]);
    await bundle.build([one]);
    await bundle.build([{ ...one, revision: 'other' }]);
    expect(builds).to.equal(2);
  });
});
