import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type BuildOptions, type BuildResult, build } from 'esbuild';
import type { Bundle } from './bundle.ts';

/** The process that makes the page's files: a few hundred megabytes for a few seconds, which are given back with it. */

/** By the names under which the editor asks for them (`client/main.jsx`). */
const WORKERS = {
  editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
};

const options = {
  bundle: true,
  // Makes it the production build, too.
  minify: true,
  write: false,
  metafile: true,
  outdir: '.',
  // What a name stands for never changes, so browsers may keep it for ever.
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

async function buildFiles(): Promise<Bundle> {
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

/** Names of the script an entry has become, and of its style sheet. */
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
