import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { addBrowserFiles, renderLicences } from './browser-files.ts';
import { addCompiledFiles } from './compile.ts';
import { addCopiedFiles } from './copied-files.ts';
import { PACKAGE_FOLDER, type PackageFiles, ROOT } from './folders.ts';
import { addKeptFiles } from './kept-files.ts';
import { readLockedPackages } from './locked-packages.ts';
import { listIncludedPackages, listInstalled, readProduct, renderPackageJson } from './package-json.ts';
import { addVendoredModules } from './vendored-packages.ts';

export interface BuiltPackage {
  readonly folder: string;
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Builds the package in `dist/package`: compiled sources, declarations, what the service reads beside them, prebuilt pages. Only
 * files that changed are written. `tell` gets a line for each step.
 */
export async function buildPackage(tell: (line: string) => void = () => {}): Promise<BuiltPackage> {
  const files: PackageFiles = new Map();
  const product = readProduct();
  const locked = readLockedPackages();
  const packageJson = renderPackageJson(product, locked);
  await step('sources', tell, () => addCompiledFiles(files));
  await step('files beside the sources', tell, () => addCopiedFiles(files));
  const included = listIncludedPackages(packageJson, locked);
  const sources = [included.map((path) => locked[path]), readSources()];
  await step('pages for browsers', tell, () => addKeptFiles(files, 'pages', sources, addBrowserFiles));
  await step('vendored packages', tell, () =>
    addKeptFiles(files, 'vendored', sources, (vendored) => addVendoredModules(vendored, listInstalled(packageJson))),
  );
  files.set('package.json', packageJson);
  files.set('THIRD-PARTY-LICENSES.txt', renderLicences(included));
  await step('package', tell, () => writeChangedFiles(PACKAGE_FOLDER, files));
  const bytes = [...files.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0);
  return { folder: PACKAGE_FOLDER, version: product.version, files: files.size, bytes };
}

/** The sources of what is built for pages and vendored packages, apart from the packages themselves. */
const readSources = (): readonly string[] =>
  globSync(['plugins/graphql/explorer/**', 'scripts/pack/*.ts'], { cwd: ROOT })
    .filter((path) => statSync(join(ROOT, path)).isFile())
    .map((path) => readFileSync(join(ROOT, path), 'utf8'));

async function step(name: string, tell: (line: string) => void, work: () => void | Promise<void>): Promise<void> {
  const begun = performance.now();
  await work();
  tell(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

/** Makes `folder` hold exactly these files. */
function writeChangedFiles(folder: string, files: PackageFiles): void {
  for (const path of globSync('**', { cwd: folder })) {
    if (path.startsWith('node_modules')) continue;
    if (!files.has(path) && !statSync(join(folder, path)).isDirectory()) rmSync(join(folder, path));
  }
  for (const [path, content] of files) {
    const target = join(folder, path);
    const bytes = Buffer.from(content as Uint8Array);
    if (existsSync(target) && readFileSync(target).equals(bytes)) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
    if (bytes.subarray(0, 2).toString() === '#!') chmodSync(target, 0o755);
  }
}
