import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { openPackageFileReader } from '../../../../plugins/extensions/library.ts';
import { buildConfinedScript } from '../../../../plugins/extensions-confined/gate/build-script.ts';
import { createPackageFolder, type PackageFolder, stopBundlerAfterTests } from '../../extensions/package-folder.ts';
import { catchLoadFailure } from './packages.ts';

const LIMIT = 1024 * 1024;

describe('buildScript', () => {
  let place: PackageFolder;
  beforeEach(async () => {
    place = await createPackageFolder();
    await mkdir(join(place.path, 'own'));
  });
  afterEach(() => place.remove());
  stopBundlerAfterTests();

  const make = async (files: Record<string, string>, entry = 'index.js', limit = LIMIT) =>
    (await build(files, entry, limit)).script;
  const build = async (files: Record<string, string>, entry = 'index.js', limit = LIMIT) => {
    await place.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`own/${path}`, text])));
    const folder = join(place.path, 'own');
    return buildConfinedScript(await openPackageFileReader(folder), join(folder, entry), limit);
  };
  /** The exports of the script, evaluated as the runner does. */
  const exportsOf = (script: string) => {
    const module = { exports: {} as { default?: unknown } };
    runInNewContext(script)(module, module.exports);
    return module.exports?.default ?? module.exports;
  };

  it('positions in the script map to file, line and column of the source', async () => {
    const { script, positions } = await build({
      'index.js': "import { other } from './lib/other.js';\nexport default { id: 'a', handler: other };",
      'lib/other.js': "// A comment.\nexport function other() {\n  throw new Error('here');\n}",
    });
    let stack = '';
    try {
      const module = { exports: {} as { default?: { handler(): void } } };
      runInNewContext(script, {}, { filename: 'artifact' })(module, module.exports);
      module.exports.default?.handler();
    } catch (error) {
      stack = (error as Error).stack ?? '';
    }
    const [, line, column] = /artifact:(\d+):(\d+)/.exec(stack) ?? [];
    expect(positions.find({ line: Number(line), column: Number(column) })).to.equal('lib/other.js:3:9');
  });

  it('an ES module becomes one function', async () => {
    expect(exportsOf(await make({ 'index.js': "export default { id: 'a' };" }))).to.deep.include({ id: 'a' });
  });

  it('a CommonJS entry is accepted', async () => {
    expect(exportsOf(await make({ 'index.cjs': "module.exports = { id: 'a' };" }, 'index.cjs'))).to.deep.include({
      id: 'a',
    });
  });

  it('a TypeScript entry is accepted without reading a tsconfig.json', async () => {
    const files = {
      'tsconfig.json': '{ "extends": "/etc/nothing", "compilerOptions": { broken',
      'index.ts': "const id: string = 'a'; export default { id } satisfies { id: string };",
    };
    expect(exportsOf(await make(files, 'index.ts'))).to.deep.include({ id: 'a' });
  });

  it('imports from the own package are included, JSON too', async () => {
    const files = {
      'index.js':
        "import { a } from './lib/a.js'; import b from './lib'; import c from './c.json'; export default { id: a + b + c.c };",
      'lib/a.js': "export const a = 'a';",
      'lib/index.js': "module.exports = 'b';",
      'c.json': '{ "c": "c" }',
    };
    expect(exportsOf(await make(files))).to.deep.include({ id: 'abc' });
  });

  it("the SDK's functions are included and answer their argument", async () => {
    const source =
      "import { defineJsonEndpoint, defineFlowOperation, defineEventHook } from '@tenon/extension-sdk';" +
      "export default defineEventHook(defineFlowOperation(defineJsonEndpoint({ id: 'a' })));";
    expect(exportsOf(await make({ 'index.js': source }))).to.deep.equal({ id: 'a' });
  });

  it('syntax that the confined engine lacks is compiled away', async () => {
    const source = `class Held { #order; constructor(order) { this.#order = order; } [Symbol.dispose]() { this.#order.push('b'); } }
      const order = [];
      { using held = new Held(order); order.push('a'); }
      export default { id: order.join('') };`;
    const script = await make({ 'index.js': source });
    expect(script).not.to.match(/using held/);
    expect(exportsOf(script)).to.deep.equal({ id: 'ab' });
    expect(script).to.contain('#order');
  });

  it('the same files give the same script', async () => {
    const files = {
      'index.js': "import { a } from './a.js'; export default { id: a };",
      'a.js': "export const a = 'ä';",
    };
    expect(await make(files)).to.equal(await make(files));
  });

  const refused: Readonly<Record<string, readonly [string, string]>> = {
    'a module of the runtime': ["import 'node:os';", 'USES_NODE_BUILTIN'],
    'a file module': ["const fs = require('fs');", 'USES_RAW_FS'],
    'an HTTP package': ["import('undici');", 'USES_RAW_NETWORK'],
    'an import of the service': ["import '@tenon/kernel';", 'USES_INTERNAL_IMPORT'],
    'an SDK for full authority': ["import '@acme/extensions-sdk';", 'USES_LEGACY_SDK_RUNTIME_IMPORT'],
    'an SDK export that is not for confined code': [
      "import { defineEndpoint } from '@tenon/extension-sdk'; export default defineEndpoint({});",
      'USES_LEGACY_SDK_RUNTIME_IMPORT',
    ],
    'a package that was not built in': ["import 'left-pad';", 'ENTRYPOINT_NOT_FOUND'],
    'a package that lies in node_modules': ["import 'there';", 'ENTRYPOINT_NOT_FOUND'],
    'a missing file': ["import './missing.js';", 'ENTRYPOINT_NOT_FOUND'],
    'a file outside of the package': ["import '../outside.js';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'a link to outside of the package': ["import './link.js';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'JSON outside of the package': ["import a from '../../../../../../etc/hosts.json';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'an absolute path': ["import '/etc/hosts';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'an imported file that is not a script': ["import './text.txt';", 'INVALID_ENTRY'],
    'a syntax error': ['export default {', 'INVALID_ENTRY'],
    'top-level await': ['await 1; export default {};', 'INVALID_ENTRY'],
  };
  for (const [what, [source, code]] of Object.entries(refused)) {
    it(`an entry with ${what} is refused with ${code}`, async () => {
      await place.write({
        'outside.js': 'export default 1;',
        'own/text.txt': 'text',
        'own/node_modules/there/index.js': '',
      });
      await symlink(join(place.path, 'outside.js'), join(place.path, 'own/link.js'));
      const failure = await catchLoadFailure(make({ 'index.js': source }));
      expect(failure.code, failure.detail).to.equal(code);
      expect(failure.detail).not.to.include(place.path);
      expect(failure.detail).not.to.include('..');
    });
  }

  it('files above the limit in total are ARTIFACT_TOO_LARGE', async () => {
    const files = {
      'index.js': "import './a.js'; import './b.js';",
      'a.js': `"${'a'.repeat(600)}"`,
      'b.js': `"${'b'.repeat(600)}"`,
    };
    expect((await catchLoadFailure(make(files, 'index.js', 1000))).code).to.equal('ARTIFACT_TOO_LARGE');
    await make(files, 'index.js', 2000);
  });

  it('an entry that is missing, outside of the package or a link to outside is refused', async () => {
    expect((await catchLoadFailure(make({}))).code).to.equal('SOURCE_UNAVAILABLE');
    await place.write({ 'outside.js': '' });
    expect((await catchLoadFailure(make({}, '../outside.js'))).code).to.equal('LOCAL_PATH_ESCAPES_ROOT');
    await symlink(join(place.path, 'outside.js'), join(place.path, 'own/index.js'));
    expect((await catchLoadFailure(make({}))).code).to.equal('LOCAL_PATH_ESCAPES_ROOT');
  });

  it('a script that kills or blocks the bundler is refused, and the next build works', async function () {
    this.timeout(120_000);
    expect((await catchLoadFailure(make({ 'index.ts': 'a?(b):c=>'.repeat(40) }, 'index.ts'))).code).to.equal(
      'INVALID_ENTRY',
    );
    expect(exportsOf(await make({ 'index.js': "export default { id: 'a' };" }))).to.deep.include({ id: 'a' });
  });
});
