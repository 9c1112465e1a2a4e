import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Package {
  readonly name: string;
  /** Absolute; empty where there is none. */
  readonly folder: string;
}

/** The packages of each service in this process. */
const lists = new Set<() => readonly Package[]>();

/** Has these packages looked through by `culpritOf`; answers how to end that. */
export function registerPackageFolders(packages: () => readonly Package[]): () => void {
  lists.add(packages);
  return () => void lists.delete(packages);
}

/**
 * The name of the third-party package whose code threw this error, by the files in its stack, the innermost first. Undefined where
 * none of them is a package's, and for what is thrown without a stack.
 */
export function culpritOf(error: unknown): string | undefined {
  const { stack } = (error ?? {}) as { readonly stack?: unknown };
  if (typeof stack !== 'string') return undefined;
  const all = [...lists].flatMap((packages) => packages()).flatMap(({ name, folder }) => foldersOf(name, folder));
  for (const line of stack.split('\n')) {
    const file = parseStackLine(line);
    const found = file && all.find(({ folder }) => file.startsWith(`${folder}${sep}`));
    if (found) return found.name;
  }
  return undefined;
}

/** A package may be a link: Node names files by where it leads. */
function foldersOf(name: string, folder: string): readonly Package[] {
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
