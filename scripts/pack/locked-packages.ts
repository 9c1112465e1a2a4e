import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { ROOT } from './folders.ts';

/** An entry of package-lock.json. */
export interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly [member: string]: unknown;
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>;

export const readLockedPackages = (): LockedPackages =>
  (JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: LockedPackages }).packages;

/** The paths in package-lock.json of these packages and of all that they need. */
export function findLockedClosure(locked: LockedPackages, names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (from: string, name: string): void => {
    const path = findInstalled(locked, from, name);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    for (const needed of listNeeded(locked[path] as LockedPackage)) visit(path, needed);
  };
  for (const name of names) visit('', name);
  return found;
}

const listNeeded = (one: LockedPackage): readonly string[] => [
  ...Object.keys(one.dependencies ?? {}),
  ...Object.keys(one.optionalDependencies ?? {}),
  ...Object.keys(one.peerDependencies ?? {}).filter((name) => !one.peerDependenciesMeta?.[name]?.optional),
];

/** Where Node finds a package: in `node_modules` of the one that needs it, or of a folder above. */
function findInstalled(locked: LockedPackages, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (locked[path]) return path;
    if (folder === '') return undefined;
  }
}
