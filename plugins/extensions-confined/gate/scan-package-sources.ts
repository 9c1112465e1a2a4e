import { dirname, extname, join } from 'node:path';
import type { PackageFile, PackageFileReader } from '../../extensions/contract.ts';
import { type AppAndApiFiles, type ExtensionManifest, SERVER_EXTENSION_TYPES } from '../../extensions/contract.ts';
import { LoadFailure } from '../../extensions/library.ts';
import { scanSourceForForbiddenUses } from './scan-source.ts';

/** Limits of a scan; larger sources are refused. */
const MAX_FILES = 500;
const MAX_BYTES = 2 * 1024 * 1024;

const isServer = (type: string): boolean => (SERVER_EXTENSION_TYPES as readonly string[]).includes(type);
const serverHalf = (source: string | AppAndApiFiles | undefined): string | undefined =>
  typeof source === 'object' ? source.api : source;

/** The source files of the server code that the manifest names; browser sources are never scanned. */
export function listServerSources(manifest: ExtensionManifest): readonly string[] {
  if (manifest.type !== 'bundle') return [serverHalf(manifest.source)].filter((one) => one !== undefined);
  return (manifest.entries ?? [])
    .filter(({ type }) => isServer(type))
    .map(({ source }) => serverHalf(source))
    .filter((one) => one !== undefined);
}

/**
 * Scans the sources and all files that they import from the package (conventions, "Load gate", 2 and 3).
 * @throws LoadFailure for the first forbidden use, in the order of the manifest, then of the imports, then of the text.
 */
export async function assertNoForbiddenUses(files: PackageFileReader, sources: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  const queue: PackageFile[] = [];
  const add = (file: PackageFile) => {
    if (!seen.has(file.path)) queue.push(file);
    seen.add(file.path);
  };
  for (const source of sources) {
    const file = await files.find(source);
    if (!file) {
      throw new LoadFailure(
        'SOURCE_UNAVAILABLE',
        `The declared source "${toDisplayPath(source)}" is not in the package; ship it.`,
      );
    }
    add(file);
  }
  let left = MAX_BYTES;
  for (let at = 0; at < queue.length; at++) {
    const file = queue[at] as PackageFile;
    const text = at < MAX_FILES ? await files.read(file, left, 'SOURCE_READ_FAILED') : undefined;
    if (!text) throw createTooLarge();
    left -= text.length;
    if (!SCANNED.has(extname(file.path))) continue;
    const { uses, relative } = scanSourceForForbiddenUses(text.toString('utf8'));
    const [first] = uses;
    if (first) {
      const more = uses.length > 1 ? ` There is more of this kind (${uses.length - 1}).` : '';
      throw new LoadFailure(first.code, `"${file.displayPath}" ${first.what}: ${first.advice}.${more}`);
    }
    for (const specifier of relative) add(await resolveSource(files, file, specifier));
  }
}

const createTooLarge = () =>
  new LoadFailure('SOURCE_READ_FAILED', `The sources are more than ${MAX_FILES} files or ${MAX_BYTES} bytes.`);

const SCRIPTS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];
/** Endings of the files that are scanned: styles, texts and data contain no code. */
const SCANNED: ReadonlySet<string> = new Set([...SCRIPTS, '.tsx', '.jsx']);
/** Endings to try for an import of `./name`; in TypeScript `./name.js` may also mean `./name.ts`. */
const ENDINGS = ['', ...SCRIPTS, '.tsx', '.jsx', '.json', '.d.ts', ...SCRIPTS.map((ending) => `/index${ending}`)];

async function resolveSource(files: PackageFileReader, from: PackageFile, specifier: string): Promise<PackageFile> {
  const base = join(dirname(from.path), specifier.replace(/[?#].*$/, ''));
  const tried = [base, ...(/\.[mc]?js$/.test(base) ? [base.replace(/js$/, 'ts')] : [])];
  for (const one of tried) {
    for (const ending of ENDINGS) {
      const found = await files.find(one + ending);
      if (found) return found;
    }
  }
  throw new LoadFailure(
    'SOURCE_UNAVAILABLE',
    `"${from.displayPath}" imports a file that is not in the package; ship it.`,
  );
}

const toDisplayPath = (path: string): string => path.replace(/^\.\//, '').slice(0, 100);
