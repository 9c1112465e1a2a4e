import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { buildExplorerBundle } from '../../plugins/graphql/explorer/bundle.ts';
import type { PrebuiltBundleIndex } from '../../plugins/graphql/explorer/prebuilt-bundle.ts';
import { type PackageFiles, ROOT } from './folders.ts';

const EXPLORER = 'plugins/graphql/explorer/built/';
const VIEWER = 'plugins/openapi/page/viewer/';

/** Packages whose code for the browser is in the package already, so that installing it does not bring them. */
export const PREBUILT_PACKAGES = [
  '@graphiql/react',
  'graphiql',
  'monaco-editor',
  'monaco-graphql',
  'react',
  'react-dom',
  'swagger-ui-dist',
] as const;

/** Builds the page of the GraphQL explorer, and copies the two files of the OpenAPI page. */
export async function addBrowserFiles(files: PackageFiles): Promise<void> {
  const { files: contents, ...index } = await buildExplorerBundle();
  const names = [...contents.keys()].sort();
  files.set(`${EXPLORER}bundle.json`, JSON.stringify({ ...index, files: names } satisfies PrebuiltBundleIndex));
  for (const name of names) files.set(`${EXPLORER}${name}.gz`, contents.get(name) as Uint8Array);
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    files.set(`${VIEWER}${name}`, readFileSync(join(ROOT, 'node_modules/swagger-ui-dist', name)));
}

/** The licences of packages whose code is in this one, as their authors ask. `paths` are their folders. */
export function renderLicences(paths: readonly string[]): string {
  const texts = paths.flatMap((path) => {
    const folder = join(ROOT, path);
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const found = existsSync(folder) ? globSync('{LICEN[CS]E,COPYING,NOTICE,ThirdPartyNotices}*', { cwd: folder }) : [];
    return found.sort().map((file) => `${name}: ${file}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`);
  });
  return ['Code of these packages is part of this one.\n', ...texts].join(`\n${'-'.repeat(80)}\n\n`);
}
