import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type BuildOptions, type BuildResult, build } from 'esbuild';
import type { ExplorerBundle } from './bundle.ts';

// The child process that bundles the files of the GraphQL explorer. It needs a few hundred megabytes, which are free
// again when it exits.

/** Web workers of the editor by the labels that the editor requests (`client/main.jsx`). */
const WORKERS = {
  editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
};

const options = {
  bundle: true,
  // Also selects the production build of React.
  minify: true,
  write: false,
  metafile: true,
  outdir: '.',
  // Names contain a hash of the content, so browsers may cache files for ever.
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  absWorkingDir: fileURLToPath(new URL('./client/', import.meta.url)),
  loader: { '.ttf': 'file' },
  jsx: 'automatic',
  target: 'es2022',
  logLevel: 'silent',
} as const satisfies BuildOptions;

type Result = BuildResult<typeof options>;

async function buildFiles(): Promise<ExplorerBundle> {
  const [app, workers] = await Promise.all([
    build({ ...options, entryPoints: { explorer: './main.jsx' }, format: 'esm', splitting: true }),
    build({ ...options, entryPoints: WORKERS, format: 'iife' }),
  ]);
  const [script, style] = findEntry(app, 'explorer');
  if (style === undefined) throw new Error('the bundle has no style sheet');
  const files = await Promise.all(
    [...app.outputFiles, ...workers.outputFiles].map(
      async ({ path, contents }) => [basename(path), await promisify(gzip)(contents)] as const,
    ),
  );
  return {
    script,
    style,
    workers: Object.fromEntries(Object.keys(WORKERS).map((name) => [name, findEntry(workers, name)[0]])),
    files: new Map(files),
  };
}

/** Names of the bundled script of an entry point, and of its style sheet. */
function findEntry({ metafile }: Result, name: string): readonly [script: string, style: string | undefined] {
  for (const [path, { entryPoint, cssBundle }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined && path.startsWith(`${name}-`) && path.endsWith('.js')) return [path, cssBundle];
  }
  throw new Error(`the bundle has no entry "${name}"`);
}

process.on('disconnect', () => process.exit());
buildFiles().then(
  (bundle) => process.send?.({ bundle }, () => process.disconnect()),
  (error: Error) => process.send?.({ reason: error.message }, () => process.disconnect()),
);
