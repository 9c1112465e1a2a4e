import { join } from 'node:path';
import { readProcStatusLine } from '../proc.ts';
import {
  listCgroupProcessIds,
  makeFolder,
  readCgroupControlFile,
  removeCgroupFolderIfEmpty,
  tryWriteCgroupControlFile,
  writeCgroupControlFile,
} from './folders.ts';

/**
 * A cgroup v2 group can enable controllers for its children only while it holds no process. So the service and its
 * ancestors (a shell, a package manager) move into a leaf group. Where the group holds other processes, none is moved.
 * Returns the function that moves them back; null where nothing was done.
 */
export function moveToLeafCgroup(base: string, leaf: string): (() => Promise<void>) | null {
  const moving = listCgroupProcessIds(base);
  const ours = listAncestors();
  if (moving.length === 0 || !moving.every((pid) => ours.has(pid))) return null;
  const undo = async () => {
    const control = join(base, 'cgroup.subtree_control');
    // The kernel refuses this while another launcher of this process still has groups. The service then stays in the
    // leaf.
    for (const one of readCgroupControlFile(control).split(' ').filter(Boolean))
      tryWriteCgroupControlFile(control, `-${one}`);
    if (listCgroupProcessIds(leaf).every((pid) => tryWriteCgroupControlFile(join(base, 'cgroup.procs'), pid)))
      removeCgroupFolderIfEmpty(leaf);
  };
  try {
    makeFolder(leaf);
    for (const pid of moving) writeCgroupControlFile(join(leaf, 'cgroup.procs'), pid);
    return undo;
  } catch {
    void undo();
    return null;
  }
}

/** The ids of this process and of all its ancestors. */
function listAncestors(): ReadonlySet<number> {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 0 && !found.has(pid); pid = Number(readProcStatusLine(pid, 'PPid'))) found.add(pid);
  return found;
}
