import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { listExtensions, reloadExtensions } from './confined-packages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** The source of a plugin with a middleware that answers `/<name>`; it imports the kernel by `specifier`. */
const layer = (name: string, specifier: string) => `
import { definePlugin, middleware } from '${specifier}';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    host.contribute(middleware, {
      name: '${name}',
      phase: 'route',
      handle: (ctx, next) => (ctx.path === '/${name}' ? void (ctx.body = 'Hello.') : next()),
    });
  },
});
`;
const LAYER = { type: 'plugin', path: 'index.ts', contributes: { 'http.middleware': { phases: ['route'] } } };
/** The package.json of an empty package in node_modules that has the name of the kernel. */
const COPY = { 'package.json': { name: '@tenon/kernel', version: '9.0.0', type: 'module', exports: './index.js' } };

/** Runs tsc in a folder and answers the errors that it prints; an empty text if there are none. */
async function compilerOutput(folder: string): Promise<string> {
  try {
    return (await run(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '--project', folder])).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout || String(error);
  }
}

/** The first code block of the guide for extension authors whose opening fence has this text, such as `json tsconfig`. */
async function guideBlock(fence: string): Promise<string> {
  const guide = await readFile(join(ROOT, 'docs/guides/extension-authors.md'), 'utf8');
  return guide.split(`\`\`\`${fence}\n`)[1]?.split('```')[0] ?? '';
}

describe('imports of packages in a folder outside of the service', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;

  before(async () => {
    const manifest = await guideBlock('json file=extensions/local/hello/package.json');
    const code = await guideBlock('ts file=extensions/local/hello/index.ts');
    const tsconfig = await guideBlock('json tsconfig');
    place = await createPackageFolder({
      'hello/package.json': manifest,
      'hello/index.ts': code,
      'hello/tsconfig.json': tsconfig.replace('/path/to/tenon/', ROOT),
      'acme-alias/package.json': createPackageJson('acme-alias', LAYER, { imports: { '#kernel': '@tenon/kernel' } }),
      'acme-alias/index.ts': layer('acme-alias', '#kernel'),
      'acme-copy/package.json': createPackageJson('acme-copy', LAYER),
      'acme-copy/index.ts': layer('acme-copy', '@tenon/kernel'),
      'acme-copy/node_modules/@tenon/kernel/package.json': COPY['package.json'],
      'acme-copy/node_modules/@tenon/kernel/index.js': 'export const other = true;',
      'service-extension-kit/package.json': createPackageJson('service-extension-kit', ENDPOINT_MANIFEST),
      'service-extension-kit/dist/index.js': `import { defineEndpoint } from '@tenon/extension-sdk';
        export default defineEndpoint((router) => router.get('/', (req, res) => res.json({ kit: true })));`,
      'endpoints/old/index.cjs': `const { defineEndpoint } = require('@tenon/extension-sdk');
        module.exports = defineEndpoint((router) => router.get('/', (req, res) => res.json({ old: true })));`,
    });
    service = await startService({ env: { EXTENSIONS_PATH: place.path } });
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  const textOf = async (path: string) => (await fetch(`${service.url}${path}`)).text();

  it('a plugin imports @tenon/kernel as the guide for extension authors says', async () => {
    expect((await listExtensions(service)).hello).to.deep.include({ type: 'plugin', status: 'loaded' });
    expect(await textOf('/hello')).to.equal('Hello.');
  });

  it('a plugin imports @tenon/kernel by an entry in its own "imports"', async () => {
    expect(await textOf('/acme-alias')).to.equal('Hello.');
  });

  it('a plugin gets the running kernel, not the copy in its node_modules', async () => {
    expect(await textOf('/acme-copy')).to.equal('Hello.');
  });

  it('an extension with full authority imports @tenon/extension-sdk as ESM and as CommonJS', async () => {
    expect(await textOf('/kit')).to.equal('{"kit":true}');
    expect(await textOf('/old')).to.equal('{"old":true}');
  });

  it('changed CommonJS files are loaded again', async () => {
    await place.write({
      'endpoints/old/index.cjs': `const { defineEndpoint } = require('@tenon/extension-sdk');
        const { answer } = require('./answer.cjs');
        module.exports = defineEndpoint((router) => router.get('/', (req, res) => res.json({ old: answer })));`,
      'endpoints/old/answer.cjs': 'exports.answer = 1;',
    });
    await reloadExtensions(service);
    expect(await textOf('/old')).to.equal('{"old":1}');
    await place.write({ 'endpoints/old/answer.cjs': 'exports.answer = 22;' });
    await reloadExtensions(service);
    expect(await textOf('/old')).to.equal('{"old":22}');
  });

  it('tsc finds the types with the tsconfig.json of the guide', async () => {
    expect(await compilerOutput(join(place.path, 'hello'))).to.equal('');
  });

  it('tsc reports a wrong type of the kernel and of the SDK', async () => {
    const extended = { extends: join(ROOT, 'extensions/sdk/tsconfig.json') };
    await place.write({
      'wrong/tsconfig.json': extended,
      'wrong/package.json': createPackageJson('wrong', LAYER),
      'wrong/plugin.ts': `import { middleware } from '@tenon/kernel';
        export const phase: typeof middleware = 42;`,
      'wrong/endpoint.ts': `import { defineJsonEndpoint } from '@tenon/extension-sdk';
        export default defineJsonEndpoint({ id: 7, handler: () => ({ body: {} }) });`,
      'right/tsconfig.json': extended,
      'right/package.json': createPackageJson('right', ENDPOINT_MANIFEST),
      'right/endpoint.ts': `import { defineJsonEndpoint } from '@tenon/extension-sdk';
        export default defineJsonEndpoint({ id: 'right', handler: ({ query }) => ({ body: { hello: query.name ?? null } }) });`,
    });
    expect(await compilerOutput(join(place.path, 'right'))).to.equal('');
    const output = await compilerOutput(join(place.path, 'wrong'));
    expect(output)
      .to.match(/plugin\.ts\(2,\d+\): error TS2322/)
      .and.match(/endpoint\.ts\(2,\d+\): error TS2322/);
    expect(output).not.to.include('TS2307');
  });
});
