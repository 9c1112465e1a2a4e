import { join } from 'node:path';
import { readStatusLine } from '../proc.ts';
import { listProcesses, makeFolder, read, removeIfEmpty, tryWrite, write } from './folders.ts';

/**
 * In the newer hierarchy a group hands controllers on only while no process is in it. The service and who started it
 * (a shell, a package manager) then move into a leaf of their own; where anybody else is in the group, nobody moves.
 * The result undoes it; null where nothing was done.
 */
export function moveToLeaf(base: string, leaf: string): (() => Promise<void>) | null {
  const moving = listProcesses(base);
  const ours = listAncestors();
  if (moving.length === 0 || !moving.every((pid) => ours.has(pid))) return null;
  const undo = async () => {
    const control = join(base, 'cgroup.subtree_control');
    // Refused while another launcher of this process still has groups: it stays in the leaf then.
    for (const one of read(control).split(' ').filter(Boolean)) tryWrite(control, `-${one}`);
    if (listProcesses(leaf).every((pid) => tryWrite(join(base, 'cgroup.procs'), pid))) removeIfEmpty(leaf);
  };
  try {
    makeFolder(leaf);
    for (const pid of moving) write(join(leaf, 'cgroup.procs'), pid);
    return undo;
  } catch {
    void undo();
    return null;
  }
}

/** This process and all above it. */
function listAncestors(): ReadonlySet<number> {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 0 && !found.has(pid); pid = Number(readStatusLine(pid, 'PPid'))) found.add(pid);
  return found;
}
