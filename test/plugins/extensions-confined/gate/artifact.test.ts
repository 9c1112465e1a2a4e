import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { stopBundler } from '../../../../plugins/extensions/packages/bundler.ts';
import { openPackageFiles } from '../../../../plugins/extensions/packages/package-files.ts';
import { buildScript } from '../../../../plugins/extensions-confined/gate/artifact.ts';
import { catchLoadFailure, createPackageFolder, type PackageFolder } from './packages.ts';

const LIMIT = 1024 * 1024;

describe('extensions: the script of a built entry', () => {
  let place: PackageFolder;
  beforeEach(async () => {
    place = await createPackageFolder();
    await mkdir(join(place.root, 'own'));
  });
  afterEach(() => place.remove());
  after(() => stopBundler());

  const make = async (files: Record<string, string>, entry = 'index.js', limit = LIMIT) =>
    (await build(files, entry, limit)).script;
  const build = async (files: Record<string, string>, entry = 'index.js', limit = LIMIT) => {
    await place.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`own/${path}`, text])));
    const folder = join(place.root, 'own');
    return buildScript(await openPackageFiles(folder), join(folder, entry), limit);
  };
  /** What the script exports, evaluated as the runner does. */
  const exportsOf = (script: string) => {
    const module = { exports: {} as { default?: unknown } };
    runInNewContext(script)(module, module.exports);
    return module.exports?.default ?? module.exports;
  };

  it('knows where in which file a part of it was written', async () => {
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

  it('is one function, made of an ES module', async () => {
    expect(exportsOf(await make({ 'index.js': "export default { id: 'a' };" }))).to.deep.include({ id: 'a' });
  });

  it('may be made of CommonJS', async () => {
    expect(exportsOf(await make({ 'index.cjs': "module.exports = { id: 'a' };" }, 'index.cjs'))).to.deep.include({
      id: 'a',
    });
  });

  it('may be made of TypeScript, without looking for a tsconfig', async () => {
    const files = {
      'tsconfig.json': '{ "extends": "/etc/nothing", "compilerOptions": { broken',
      'index.ts': "const id: string = 'a'; export default { id } satisfies { id: string };",
    };
    expect(exportsOf(await make(files, 'index.ts'))).to.deep.include({ id: 'a' });
  });

  it('has what the entry imports of its own package, JSON included', async () => {
    const files = {
      'index.js':
        "import { a } from './lib/a.js'; import b from './lib'; import c from './c.json'; export default { id: a + b + c.c };",
      'lib/a.js': "export const a = 'a';",
      'lib/index.js': "module.exports = 'b';",
      'c.json': '{ "c": "c" }',
    };
    expect(exportsOf(await make(files))).to.deep.include({ id: 'abc' });
  });

  it("has the kit's functions, which answer what they are given", async () => {
    const source =
      "import { defineJsonEndpoint, defineFlowOperation, defineEventHook } from '@tenon/extension-sdk';" +
      "export default defineEventHook(defineFlowOperation(defineJsonEndpoint({ id: 'a' })));";
    expect(exportsOf(await make({ 'index.js': source }))).to.deep.equal({ id: 'a' });
  });

  it('does without what the confined engine leaves out', async () => {
    const source = `class Held { #order; constructor(order) { this.#order = order; } [Symbol.dispose]() { this.#order.push('b'); } }
      const order = [];
      { using held = new Held(order); order.push('a'); }
      export default { id: order.join('') };`;
    const script = await make({ 'index.js': source });
    expect(script).not.to.match(/using held/);
    expect(exportsOf(script)).to.deep.equal({ id: 'ab' });
    expect(script).to.contain('#order');
  });

  it('is the same for the same files', async () => {
    const files = {
      'index.js': "import { a } from './a.js'; export default { id: a };",
      'a.js': "export const a = 'ä';",
    };
    expect(await make(files)).to.equal(await make(files));
  });

  const refused: Readonly<Record<string, readonly [string, string]>> = {
    'a module of the runtime': ["import 'node:os';", 'USES_NODE_BUILTIN'],
    files: ["const fs = require('fs');", 'USES_RAW_FS'],
    'an HTTP package': ["import('undici');", 'USES_RAW_NETWORK'],
    'the service': ["import '@tenon/kernel';", 'USES_INTERNAL_IMPORT'],
    'a kit for full authority': ["import '@acme/extensions-sdk';", 'USES_LEGACY_SDK_RUNTIME_IMPORT'],
    'a name of the kit that is not for confined code': [
      "import { defineEndpoint } from '@tenon/extension-sdk'; export default defineEndpoint({});",
      'USES_LEGACY_SDK_RUNTIME_IMPORT',
    ],
    'a package that was not built in': ["import 'left-pad';", 'ENTRYPOINT_NOT_FOUND'],
    'a package that lies in node_modules': ["import 'there';", 'ENTRYPOINT_NOT_FOUND'],
    'a file that is not there': ["import './missing.js';", 'ENTRYPOINT_NOT_FOUND'],
    'a file outside': ["import '../outside.js';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'a link to outside': ["import './link.js';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'JSON outside': ["import a from '../../../../../../etc/hosts.json';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'an absolute path': ["import '/etc/hosts';", 'LOCAL_PATH_ESCAPES_ROOT'],
    'a file that is no script': ["import './text.txt';", 'INVALID_ENTRY'],
    'what does not parse': ['export default {', 'INVALID_ENTRY'],
    'await at the top': ['await 1; export default {};', 'INVALID_ENTRY'],
  };
  for (const [what, [source, code]] of Object.entries(refused)) {
    it(`does not take ${what}`, async () => {
      await place.write({
        'outside.js': 'export default 1;',
        'own/text.txt': 'text',
        'own/node_modules/there/index.js': '',
      });
      await symlink(join(place.root, 'outside.js'), join(place.root, 'own/link.js'));
      const failure = await catchLoadFailure(make({ 'index.js': source }));
      expect(failure.code, failure.detail).to.equal(code);
      expect(failure.detail).not.to.include(place.root);
      expect(failure.detail).not.to.include('..');
    });
  }

  it('is refused above the limit, all files together', async () => {
    const files = {
      'index.js': "import './a.js'; import './b.js';",
      'a.js': `"${'a'.repeat(600)}"`,
      'b.js': `"${'b'.repeat(600)}"`,
    };
    expect((await catchLoadFailure(make(files, 'index.js', 1000))).code).to.equal('ARTIFACT_TOO_LARGE');
    await make(files, 'index.js', 2000);
  });

  it('is refused where the entry is missing, lies outside, or is a link to outside', async () => {
    expect((await catchLoadFailure(make({}))).code).to.equal('SOURCE_UNAVAILABLE');
    await place.write({ 'outside.js': '' });
    expect((await catchLoadFailure(make({}, '../outside.js'))).code).to.equal('LOCAL_PATH_ESCAPES_ROOT');
    await symlink(join(place.root, 'outside.js'), join(place.root, 'own/index.js'));
    expect((await catchLoadFailure(make({}))).code).to.equal('LOCAL_PATH_ESCAPES_ROOT');
  });

  it('survives scripts that end or hold up the bundler', async function () {
    this.timeout(120_000);
    expect((await catchLoadFailure(make({ 'index.ts': 'a?(b):c=>'.repeat(40) }, 'index.ts'))).code).to.equal(
      'INVALID_ENTRY',
    );
    expect(exportsOf(await make({ 'index.js': "export default { id: 'a' };" }))).to.deep.include({ id: 'a' });
  });
});
