import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths of the system programs that confine children; null where the machine does not have one. */
export interface ConfinementTools {
  readonly bubblewrap: string | null;
  readonly setpriv: string | null;
  readonly prlimit: string | null;
  readonly shell: string | null;
  readonly nice: string | null;
}

/** Folders in which system programs are looked up, instead of PATH, which the environment of the service controls. */
export const TOOL_SEARCH_FOLDERS: readonly string[] = ['/usr/bin', '/bin', '/usr/local/bin'];

/** Folder into which `scripts/bubblewrap.mjs` unpacks bubblewrap on a machine without it. */
const UNPACKED = fileURLToPath(new URL('../../../node_modules/.bubblewrap/usr/bin', import.meta.url));

export function findConfinementTools(
  folders: readonly string[] = [...TOOL_SEARCH_FOLDERS, UNPACKED],
): ConfinementTools {
  const find = (name: string) => folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
  return {
    bubblewrap: find('bwrap'),
    setpriv: find('setpriv'),
    prlimit: find('prlimit'),
    shell: find('sh'),
    nice: find('nice'),
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
