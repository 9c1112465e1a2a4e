import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, PID_NAMESPACE } from './proc.ts';

const PREFIX = 'tenon-child-';

/**
 * A new folder for the files of one launcher, whose name says whose it is. Nothing secret is kept there, and a child
 * without a file system of its own reads it as another user. What services left that were killed is removed.
 */
export function createPrivateFolder(): string {
  const parent = tmpdir();
  for (const name of listLeftovers(parent)) rmSync(join(parent, name), { recursive: true, force: true });
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-${PID_NAMESPACE}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** Only what is our user's: the folder for temporary files is everybody's. */
function listLeftovers(parent: string): readonly string[] {
  return readdirSync(parent).filter((name) => {
    const [, pid, count] = name.match(/^tenon-child-(\d+)-(\d+)-/) ?? [];
    if (pid === undefined || count !== PID_NAMESPACE || isAlive(Number(pid))) return false;
    return lstatSync(join(parent, name), { throwIfNoEntry: false })?.uid === process.getuid?.();
  });
}
