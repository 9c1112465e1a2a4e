import { dirname, join, relative } from 'node:path/posix';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { type PackageFiles, ROOT } from './folders.ts';

/** Modules whose code is bundled into the package: with what they need, they would be some hundred packages and 90 MB to install. */
const VENDORED_MODULES = [
  '@aws-sdk/client-s3',
  '@aws-sdk/client-sesv2',
  '@node-saml/node-saml',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/core',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-proto',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
  '@simplewebauthn/server',
  '@simplewebauthn/server/helpers',
  '@tus/server',
  '@xmldom/xmldom',
  'croner',
  'csv-parse',
  'csv-stringify/sync',
  'exifr',
  'file-type',
  'graphql',
  'graphql-sse',
  'graphql-ws',
  'html-to-text',
  'jsonwebtoken',
  'koa-body',
  'ldapts',
  'lru-cache',
  'markdown-it',
  'music-metadata',
  'nodemailer',
  'nodemailer/lib/addressparser',
  'nodemailer/lib/smtp-connection',
  'otpauth',
  'pg-boss',
  'qs',
  'rate-limiter-flexible',
  'tar',
  'tar-stream',
  'yaml',
] as const;

const FOLDER = 'vendor/';

const packageNameOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

export const VENDORED_PACKAGES: readonly string[] = [...new Set(VENDORED_MODULES.map(packageNameOf))];

/** The file of a vendored module in the package. */
const vendoredFileOf = (specifier: string): string => `${FOLDER}${specifier.replace(/^@/, '').replaceAll('/', '-')}.js`;

const IMPORT = new RegExp(`\\b(from\\s*|import\\s*\\(\\s*)(['"])(${VENDORED_MODULES.join('|')})\\2`, 'g');

/** Lets a compiled file import vendored modules from where they lie in the package. */
export const rewriteVendoredImports = (path: string, text: string): string =>
  text.replace(IMPORT, (_all, before: string, quote: string, specifier: string) => {
    const target = relative(dirname(path), vendoredFileOf(specifier));
    return `${before}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`;
  });

/** Bundles the vendored modules. `installed` are the packages that are installed with the package: those are imported, not bundled. */
export async function addVendoredModules(files: PackageFiles, installed: readonly string[]): Promise<void> {
  const stubs = new Map<string, string>();
  for (const specifier of VENDORED_MODULES) stubs.set(specifier, await renderStub(specifier));
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: Object.fromEntries(
      VENDORED_MODULES.map((specifier) => [vendoredFileOf(specifier).replace(/\.js$/, ''), `stub:${specifier}`]),
    ),
    plugins: [createStubPlugin(stubs), createInstalledPlugin(new Set(installed))],
  });
  for (const { path, contents } of outputFiles) files.set(relative(ROOT, path), contents);
}

const OPTIONS = {
  bundle: true,
  splitting: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The conditions of Node, without that of bundlers.
  conditions: [],
  outdir: ROOT,
  chunkNames: `${FOLDER}chunk-[hash]`,
  absWorkingDir: ROOT,
  // Some packages choose by the names of classes.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'error',
  // What CommonJS packages expect.
  banner: {
    js: "import { createRequire as createVendoredRequire } from 'node:module'; const require = createVendoredRequire(import.meta.url);",
  },
} as const satisfies BuildOptions;

/** A module with exactly the exports that Node finds: those of CommonJS packages are no exports for a bundler. */
async function renderStub(specifier: string): Promise<string> {
  const names = Object.keys((await import(specifier)) as object);
  const named = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default' && name !== 'module');
  const value = (name: string) => `((m) => '${name}' in m ? m.${name} : m.default.${name})(all)`;
  return [
    `import * as all from '${specifier}';`,
    ...named.map((name, at) => `const export${at} = ${value(name)};`),
    named.length > 0 ? `export { ${named.map((name, at) => `export${at} as ${name}`).join(', ')} };` : '',
    names.includes('default') ? 'export default all.default;' : '',
  ].join('\n');
}

const createStubPlugin = (stubs: ReadonlyMap<string, string>): Plugin => ({
  name: 'stubs',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^stub:/ }, ({ path }) => ({ path: path.slice(5), namespace: 'stub' }));
    onLoad({ filter: /.*/, namespace: 'stub' }, ({ path }) => ({
      contents: stubs.get(path) as string,
      resolveDir: ROOT,
    }));
  },
});

/** Leaves imports of installed packages alone, but not those of another version that a package brings along. */
const createInstalledPlugin = (installed: ReadonlySet<string>): Plugin => ({
  name: 'installed',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      const name = packageNameOf(path);
      if (pluginData === RESOLVING || !installed.has(name)) return undefined;
      const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: RESOLVING });
      return found.path.startsWith(`${ROOT}node_modules/${name}/`) ? { path, external: true } : found;
    });
  },
});

const RESOLVING = Symbol('resolving');

/** Whether a vendored module in a package exports what the module itself does. @throws Error that names what differs. */
export async function assertSameExports(packageFolder: string): Promise<void> {
  for (const specifier of VENDORED_MODULES) {
    const namesOf = async (url: string) =>
      Object.keys((await import(url)) as object)
        .filter((name) => name !== 'module.exports')
        .sort()
        .join(' ');
    const [own, vendored] = await Promise.all([
      namesOf(specifier),
      namesOf(pathToFileURL(join(packageFolder, vendoredFileOf(specifier))).href),
    ]);
    if (own !== vendored) throw new Error(`${specifier} exports ${own}, and its bundle ${vendored}`);
  }
}
