import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedDescriptors } from './inherited.ts';
import { librariesOf, loaderOfNode } from './libraries.ts';
import { makePlace } from './place.ts';
import { seccompFilter } from './seccomp.ts';
import { findTools, type Tools } from './tools.ts';

/** What children are made from, looked up once. */
export interface Bench {
  readonly node: string;
  /** Arguments of Node before the program. */
  readonly flags: readonly string[];
  /** The native half of the engine; null where the package has none for this machine. */
  readonly native: string | null;
  readonly tools: Tools;
  /** Everything Node, the native half, setpriv and prlimit load; null where that cannot be found out. */
  readonly libraries: readonly string[] | null;
  /** The filter as a file; null where there is none for this machine. */
  readonly filter: string | null;
  /** Open to every process the service starts, unless something is put in their place. */
  readonly inherited: readonly number[];
  /** Keeps the text of a program in the private folder and returns its path. */
  keep(name: string, text: string): string;
  /** Removes the private folder. */
  close(): void;
}

export interface BenchOptions {
  readonly flags: readonly string[];
  readonly native: string | null;
  /** Where programs are looked for; the usual folders unless given. */
  readonly folders?: readonly string[] | undefined;
}

export async function makeBench({ flags, native, folders }: BenchOptions): Promise<Bench> {
  const tools = findTools(folders);
  const linux = process.platform === 'linux';
  const libraries = linux && tools.bubblewrap !== null ? await findLibraries(tools, native) : null;
  const folder = makePlace();
  const keep = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o644 });
    return path;
  };
  const filter = linux ? seccompFilter(process.arch) : null;
  return {
    node: process.execPath,
    flags,
    native,
    tools,
    libraries,
    filter: filter && keep('filter', filter),
    inherited: inheritedDescriptors(),
    keep,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function findLibraries({ setpriv, prlimit }: Tools, native: string | null): Promise<readonly string[] | null> {
  const loader = loaderOfNode();
  if (loader === null) return null;
  const programs = [process.execPath, native, setpriv, prlimit].filter((path) => path !== null);
  try {
    return [...new Set((await Promise.all(programs.map((path) => librariesOf(path, loader)))).flat())];
  } catch {
    return null;
  }
}
