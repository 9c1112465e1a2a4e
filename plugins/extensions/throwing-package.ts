import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Package {
  readonly name: string;
  /** Absolute path of the package; empty for a package without a folder. */
  readonly folder: string;
}

/** Lists of packages, one function for each service in this process, in which `findThrowingPackage` searches. */
const packageLists = new Set<() => readonly Package[]>();

/** Adds packages to those that `findThrowingPackage` searches. Answers a function that removes them. */
export function registerPackagesForErrorAttribution(packages: () => readonly Package[]): () => void {
  packageLists.add(packages);
  return () => void packageLists.delete(packages);
}

/**
 * The name of the third-party package whose code threw this error, by the files in its stack, the innermost first.
 * Undefined if no file belongs to a package, and for values thrown without a stack.
 */
export function findThrowingPackage(error: unknown): string | undefined {
  const { stack } = (error ?? {}) as { readonly stack?: unknown };
  if (typeof stack !== 'string') return undefined;
  const all = [...packageLists]
    .flatMap((packages) => packages())
    .flatMap(({ name, folder }) => listFolders(name, folder));
  for (const line of stack.split('\n')) {
    const file = parseStackLine(line);
    const match = file && all.find(({ folder }) => file.startsWith(`${folder}${sep}`));
    if (match) return match.name;
  }
  return undefined;
}

/** A package may be a symbolic link; Node names files by the target of the link. */
function listFolders(name: string, folder: string): readonly Package[] {
  if (folder === '') return [];
  try {
    return [
      { name, folder },
      { name, folder: realpathSync(folder) },
    ];
  } catch {
    return [{ name, folder }];
  }
}

function parseStackLine(line: string): string | undefined {
  const [, url, path] =
    /(file:\/\/\/[^\s)]+?)(?:\?[^\s)]*)?:\d+:\d+\)?$|(\/[^:()]+):\d+:\d+\)?$/.exec(line.trim()) ?? [];
  try {
    return url === undefined ? path : fileURLToPath(url);
  } catch {
    return undefined;
  }
}
