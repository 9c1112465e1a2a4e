import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive, OWN_PID_NAMESPACE_ID } from './proc.ts';

const PREFIX = 'tenon-child-';

/**
 * Creates a folder for the files of one launcher, named by its owner. It holds no secrets: a child without a file
 * system of its own reads it as another user. Folders of killed services are removed first.
 */
export function createLauncherTempFolder(): string {
  const parent = tmpdir();
  for (const name of listLeftovers(parent)) rmSync(join(parent, name), { recursive: true, force: true });
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-${OWN_PID_NAMESPACE_ID}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** Only folders of this user, since all users share the folder for temporary files. */
function listLeftovers(parent: string): readonly string[] {
  return readdirSync(parent).filter((name) => {
    const [, pid, count] = name.match(/^tenon-child-(\d+)-(\d+)-/) ?? [];
    if (pid === undefined || count !== OWN_PID_NAMESPACE_ID || isProcessAlive(Number(pid))) return false;
    return lstatSync(join(parent, name), { throwIfNoEntry: false })?.uid === process.getuid?.();
  });
}
