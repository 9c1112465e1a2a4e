import { join } from 'node:path';
import { statusLine } from '../proc.ts';
import { makeFolder, processesIn, read, removeIfEmpty, write, writes } from './folders.ts';

/**
 * In the newer hierarchy a group hands controllers on only while no process is in it. The service and who started it
 * (a shell, a package manager) then move into a leaf of their own; where anybody else is in the group, nobody moves.
 * The result undoes it; null where nothing was done.
 */
export function stepAside(base: string, leaf: string): (() => Promise<void>) | null {
  const moving = processesIn(base);
  const ours = ancestors();
  if (moving.length === 0 || !moving.every((pid) => ours.has(pid))) return null;
  const undo = async () => {
    const control = join(base, 'cgroup.subtree_control');
    // Refused while another launcher of this process still has groups: it stays in the leaf then.
    for (const one of read(control).split(' ').filter(Boolean)) writes(control, `-${one}`);
    if (processesIn(leaf).every((pid) => writes(join(base, 'cgroup.procs'), pid))) removeIfEmpty(leaf);
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
function ancestors(): ReadonlySet<number> {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 0 && !found.has(pid); pid = Number(statusLine(pid, 'PPid'))) found.add(pid);
  return found;
}
