import { realpath } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import {
  type BuildOptions,
  type BuildPlugin,
  listBuildErrors,
  readCompleteFile,
  runEsbuildWithDeadline,
} from '../extensions/library.ts';
import { type BuildableAppPart, renderAppEntryModule } from './app-entry-module.ts';

/** Modules that the running admin app provides; a second copy of them would not work. */
const SHARED = ['vue', 'vue-router', 'vue-i18n', 'pinia', '@tenon/extension-sdk'] as const;
const isShared = (path: string): boolean => SHARED.some((name) => path === name || path.startsWith(`${name}/`));

export type ChunkTexts = ReadonlyMap<string, string>;

/**
 * Bundles the browser code of extensions into chunks in memory; `index.js` is the entry. Rejects if the code of one extension
 * cannot be built.
 */
export async function bundleAppParts(parts: readonly BuildableAppPart[]): Promise<ChunkTexts> {
  const roots = await Promise.all(parts.map(async ({ folder }) => (await realpath(folder)) + sep));
  const waiting = await findTopLevelAwaits(parts, roots);
  const { outputFiles = [] } = await runEsbuildWithDeadline({
    ...createOptions(renderAppEntryModule(parts, waiting), roots),
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
  });
  return new Map(
    outputFiles.filter(({ path }) => path.endsWith('.js')).map(({ path, text }) => [basename(path), text]),
  );
}

/**
 * Finds the extensions whose browser code has a top-level await, which a build as IIFE reports as an error. Other errors are
 * reported by the next build.
 */
async function findTopLevelAwaits(
  parts: readonly BuildableAppPart[],
  roots: readonly string[],
): Promise<ReadonlySet<BuildableAppPart>> {
  try {
    await runEsbuildWithDeadline({
      ...createOptions(renderAppEntryModule(parts), roots),
      format: 'iife',
      absWorkingDir: '/',
    });
    return new Set();
  } catch (error) {
    const files = listBuildErrors(error).flatMap(({ text, location }) =>
      /top-level await/i.test(text) && location ? [location.file] : [],
    );
    return new Set(parts.filter((_part, at) => files.some((file) => `/${file}`.startsWith(roots[at] as string))));
  }
}

const createOptions = (text: string, roots: readonly string[]): BuildOptions => ({
  entryPoints: { index: 'extensions:index' },
  outdir: '/',
  write: false,
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  // Comments and names in code that is not minified would show paths of the server.
  minify: true,
  sourcemap: false,
  legalComments: 'none',
  logLevel: 'silent',
  // A tsconfig.json on the server must not change the build.
  tsconfigRaw: '{}',
  define: { [['process', 'env', 'NODE_ENV'].join('.')]: '"production"' },
  plugins: [createEntryPlugin(text), createContainmentPlugin(roots)],
});

const createEntryPlugin = (text: string): BuildPlugin => ({
  name: 'gathered',
  setup(build) {
    build.onResolve({ filter: /^extensions:index$/ }, ({ path }) => ({ path, namespace: 'extensions' }));
    build.onLoad({ filter: /.*/, namespace: 'extensions' }, () => ({ contents: text, loader: 'js', resolveDir: '/' }));
  },
});

/**
 * Bundled code is public, so a package may import only its own files, also through paths and links.
 */
const createContainmentPlugin = (roots: readonly string[]): BuildPlugin => ({
  name: 'kept',
  setup(build) {
    build.onResolve({ filter: /.*/, namespace: 'file' }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === RESOLVING) return undefined;
      if (isShared(path)) return { path, external: true };
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: RESOLVING });
      if (found.errors.length > 0 || found.external) return found;
      const root = roots.find((one) => `${dirname(importer)}${sep}`.startsWith(one));
      return root !== undefined && (await realpath(found.path)).startsWith(root)
        ? found
        : { errors: [{ text: `"${basename(path)}" lies outside of the package` }] };
    });
    build.onLoad({ filter: /.*/, namespace: 'file' }, async ({ path }) => {
      const real = await realpath(path);
      if (!roots.some((one) => real.startsWith(one)))
        return { errors: [{ text: `"${basename(path)}" lies outside of the package` }] };
      // Read here, because esbuild would read the file later, when it may be another one.
      const contents = await readCompleteFile(
        { path: real, displayPath: basename(path) },
        MAX_FILE_BYTES,
        'BUNDLE_BUILD_FAILED',
      );
      if (contents) return { contents, loader: 'default', resolveDir: dirname(path) };
      return { errors: [{ text: `"${basename(path)}" is larger than ${MAX_FILE_BYTES} bytes` }] };
    });
  },
});

const RESOLVING = Symbol('resolving');
/** Maximum bytes of one file of a package. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
