import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  claimCgroupFolderName,
  killAndRemoveCgroup,
  killCgroupProcesses,
  makeFolder,
  parseCgroupCounter,
  readCgroupControlFile,
  releaseCgroupFolderName,
  removeLauncherCgroup,
  removeLeftoverCgroups,
  tryWriteCgroupControlFile,
  writeCgroupControlFile,
} from './folders.ts';
import {
  type CgroupFactory,
  CHILD_CPU_CORES,
  type ControlGroup,
  type ControlGroupLimits,
  CPU_PERIOD_US,
} from './group.ts';
import { moveToLeafCgroup } from './move-to-leaf.ts';
import { findOwnCgroupV2, type ProcSelfCgroupTexts, readProcSelfCgroupTexts } from './own-group.ts';

/** Controllers without which v2 is not used, and those that are used where available. */
const REQUIRED_CONTROLLERS = ['memory', 'pids'];
const OPTIONAL_CONTROLLERS = ['cpu'];
const SERVICE_LEAF = `tenon-service-${process.pid}`;

/**
 * Opens cgroup v2 below the group of this process: in a container with writable groups, in a unit or scope with
 * `Delegate=yes`, or as root. Null where the controllers are missing or cannot be enabled.
 */
export async function openCgroupsV2(
  procFiles: ProcSelfCgroupTexts = readProcSelfCgroupTexts(),
  needed: readonly string[] = REQUIRED_CONTROLLERS,
): Promise<CgroupFactory | null> {
  const found = findOwnCgroupV2(procFiles);
  if (found === null) return null;
  // An earlier launcher of this process may have moved the process to the leaf group.
  const base = basename(found) === SERVICE_LEAF ? dirname(found) : found;
  if (!hasAll(readCgroupControlFile(join(base, 'cgroup.controllers')), needed)) return null;
  await removeLeftoverCgroups(base);
  const name = claimCgroupFolderName();
  const folder = join(base, name);
  let undoMove = async () => {};
  const close = async () => {
    await removeLauncherCgroup(folder);
    await undoMove();
    releaseCgroupFolderName(name);
  };
  try {
    makeFolder(folder);
    if (!enableControllers(base, needed)) {
      const undo = moveToLeafCgroup(base, join(base, SERVICE_LEAF));
      if (undo !== null) undoMove = undo;
      if (!enableControllers(base, needed)) throw new Error('the cgroup controllers cannot be enabled');
    }
    if (!enableControllers(folder, needed)) throw new Error('the cgroup controllers cannot be enabled');
    await createGroup(join(folder, '0'), { memory: 1 << 26, tasks: 8 }, needed).remove();
  } catch {
    await close();
    return null;
  }
  let count = 0;
  return {
    mechanic: 'cgroup-v2',
    createGroup(limits) {
      count += 1;
      return createGroup(join(folder, String(count)), limits, needed);
    },
    close,
  };
}

const hasAll = (list: string, needed: readonly string[]) => needed.every((one) => list.split(' ').includes(one));

/** Enables the controllers for child groups of a folder. False where a required one cannot be enabled. */
function enableControllers(folder: string, needed: readonly string[]): boolean {
  const control = join(folder, 'cgroup.subtree_control');
  for (const one of [...needed, ...OPTIONAL_CONTROLLERS])
    if (!hasAll(readCgroupControlFile(control), [one])) tryWriteCgroupControlFile(control, `+${one}`);
  return hasAll(readCgroupControlFile(control), needed);
}

function createGroup(folder: string, limits: ControlGroupLimits, needed: readonly string[]): ControlGroup {
  const at = (file: string) => join(folder, file);
  try {
    mkdirSync(folder, { recursive: true });
    if (needed.includes('memory')) {
      writeCgroupControlFile(at('memory.max'), limits.memory);
      tryWriteCgroupControlFile(at('memory.swap.max'), 0);
      // The kernel kills the whole group at its memory limit, since a child without one of its processes cannot go on.
      tryWriteCgroupControlFile(at('memory.oom.group'), 1);
    }
    if (needed.includes('pids')) writeCgroupControlFile(at('pids.max'), limits.tasks);
  } catch (error) {
    void killAndRemoveCgroup(folder);
    throw error;
  }
  return {
    procsFiles: [at('cgroup.procs')],
    join: (pid) => writeCgroupControlFile(at('cgroup.procs'), pid),
    throttle: (share = CHILD_CPU_CORES) =>
      void tryWriteCgroupControlFile(at('cpu.max'), `${Math.round(share * CPU_PERIOD_US)} ${CPU_PERIOD_US}`),
    limitTasks: (tasks) => void tryWriteCgroupControlFile(at('pids.max'), tasks),
    tasks: () => Number(readCgroupControlFile(at('pids.current'))),
    counters: () => ({
      outOfMemory: parseCgroupCounter(readCgroupControlFile(at('memory.events')), 'oom_kill'),
      refused: parseCgroupCounter(readCgroupControlFile(at('pids.events')), 'max'),
      throttled: parseCgroupCounter(readCgroupControlFile(at('cpu.stat')), 'nr_throttled'),
    }),
    kill: () => killCgroupProcesses(folder),
    remove: () => killAndRemoveCgroup(folder),
  };
}
