import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventLoopTurn } from '../event-loop-turn.ts';
import { listInheritedDescriptors } from './inherited-descriptors.ts';
import { createLauncherTempFolder } from './launcher-temp-folder.ts';
import { findDynamicLoader, listDynamicLibraryPaths } from './libraries.ts';
import { buildSeccompFilter } from './seccomp.ts';
import { type ConfinementTools, findConfinementTools } from './tools.ts';

/** Programs, libraries and files that every child is started with, looked up once. */
export interface LaunchFiles {
  readonly node: string;
  /** Arguments of Node before the program. */
  readonly flags: readonly string[];
  /** Path of the native addon of isolated-vm; null where the package has none for this machine. */
  readonly native: string | null;
  readonly tools: ConfinementTools;
  /** Libraries that Node, the native addon, setpriv and prlimit load; null where they cannot be determined. */
  readonly libraries: readonly string[] | null;
  /** Path of the seccomp filter; null where there is none for this machine. */
  readonly seccompFilter: string | null;
  /** Descriptors that every process of the service inherits unless the null device covers them. */
  readonly inheritedDescriptors: readonly number[];
  /** Writes a program into the private folder and returns its path. */
  writeFile(name: string, text: string): string;
  /** Removes the private folder. */
  close(): void;
}

export interface LaunchFilesOptions {
  readonly flags: readonly string[];
  readonly native: string | null;
  /** Folders in which programs are looked up. Default: `TOOL_SEARCH_FOLDERS` of `tools.ts`. */
  readonly folders?: readonly string[] | undefined;
}

export async function createLaunchFiles({ flags, native, folders }: LaunchFilesOptions): Promise<LaunchFiles> {
  const tools = findConfinementTools(folders);
  const linux = process.platform === 'linux';
  const libraries = linux && tools.bubblewrap !== null ? await findLibraries(tools, native) : null;
  await eventLoopTurn();
  const folder = createLauncherTempFolder();
  const writeFile = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o644 });
    return path;
  };
  const filter = linux ? buildSeccompFilter(process.arch) : null;
  return {
    node: process.execPath,
    flags,
    native,
    tools,
    libraries,
    seccompFilter: filter && writeFile('filter', filter),
    inheritedDescriptors: listInheritedDescriptors(),
    writeFile,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function findLibraries(
  { setpriv, prlimit }: ConfinementTools,
  native: string | null,
): Promise<readonly string[] | null> {
  const loader = findDynamicLoader();
  if (loader === null) return null;
  const programs = [process.execPath, native, setpriv, prlimit].filter((path) => path !== null);
  const found = new Set<string>();
  try {
    for (const path of programs) {
      await eventLoopTurn();
      for (const library of await listDynamicLibraryPaths(path, loader)) found.add(library);
    }
  } catch {
    return null;
  }
  return [...found];
}
