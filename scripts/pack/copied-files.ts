import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path/posix';
import { type PackageFiles, ROOT } from './folders.ts';

/** Files that the service reads beside its code: pages, styles, mail templates, manifests, programs that are no TypeScript. */
const SOURCES = ['kernel/**', 'plugins/**', 'sandbox/**', 'extensions/sdk/**'];
/** What the explorer's bundle is built from, and texts for readers of the sources. */
const LEFT_OUT = /\.(?:ts|md)$|^plugins\/graphql\/explorer\/client\//;

const DOCUMENTS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'docs/guides/**',
  'docs/images/**',
  'docs/reference/**',
];
const PROGRAMS = ['scripts/node', 'scripts/tenon'];

/** Adds everything that is taken over as it is, or nearly. */
export function addCopiedFiles(files: PackageFiles): void {
  for (const path of list(SOURCES).filter((one) => !LEFT_OUT.test(one))) {
    const content = readFileSync(join(ROOT, path));
    files.set(path, path.endsWith('.json') ? adaptJson(path, content.toString()) : content);
  }
  for (const path of [...PROGRAMS, ...list(DOCUMENTS)]) files.set(path, readFileSync(join(ROOT, path)));
}

const list = (patterns: readonly string[]): readonly string[] =>
  globSync([...patterns], { cwd: ROOT }).filter((path) => statSync(join(ROOT, path)).isFile());

/** Manifests and the settings of compilers name sources; here they name what those were compiled to. */
function adaptJson(path: string, text: string): string {
  if (path.endsWith('/tsconfig.json')) {
    return text.replaceAll('/index.ts"', '/index.d.ts"').replace(/^\s*"typeRoots":.*\n/m, '');
  }
  if (!path.endsWith('/package.json')) return text;
  const { imports: _kernelLink, private: _isPrivate, ...adapted } = JSON.parse(text) as Record<string, unknown>;
  return `${JSON.stringify(adapted, null, 2).replace(/\.ts"/g, '.js"')}\n`;
}
