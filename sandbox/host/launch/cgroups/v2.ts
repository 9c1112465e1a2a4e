import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  claimName,
  killProcesses,
  makeFolder,
  parseCounter,
  read,
  releaseName,
  removeFolder,
  removeLeftovers,
  removeTree,
  tryWrite,
  write,
} from './folders.ts';
import { type Cgroups, type ControlGroup, CPU_PERIOD_US, CPU_SHARE, type GroupLimits } from './group.ts';
import { moveToLeaf } from './move-to-leaf.ts';
import { type CgroupProcFiles, findOwnGroupV2, readCgroupProcFiles } from './own-group.ts';

/** What must be there, and what is taken where it is. */
const REQUIRED_CONTROLLERS = ['memory', 'pids'];
const OPTIONAL_CONTROLLERS = ['cpu'];
const SERVICE_LEAF = `tenon-service-${process.pid}`;

/**
 * The newer hierarchy, below the group this process is in: a container with its groups writable, a unit or a scope with
 * `Delegate=yes`, a service of root. Null where the controllers are not there or not ours to hand on.
 */
export async function openV2(
  procFiles: CgroupProcFiles = readCgroupProcFiles(),
  needed: readonly string[] = REQUIRED_CONTROLLERS,
): Promise<Cgroups | null> {
  const found = findOwnGroupV2(procFiles);
  if (found === null) return null;
  // A launcher before this one stepped aside already.
  const base = basename(found) === SERVICE_LEAF ? dirname(found) : found;
  if (!hasAll(read(join(base, 'cgroup.controllers')), needed)) return null;
  await removeLeftovers(base);
  const name = claimName();
  const folder = join(base, name);
  let undoMove = async () => {};
  const close = async () => {
    await removeTree(folder);
    await undoMove();
    releaseName(name);
  };
  try {
    makeFolder(folder);
    if (!enableControllers(base, needed)) {
      const undo = moveToLeaf(base, join(base, SERVICE_LEAF));
      if (undo !== null) undoMove = undo;
      if (!enableControllers(base, needed)) throw new Error('the controllers cannot be handed on');
    }
    if (!enableControllers(folder, needed)) throw new Error('the controllers cannot be handed on');
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

/** Lets the groups inside of a folder use the controllers. */
function enableControllers(folder: string, needed: readonly string[]): boolean {
  const control = join(folder, 'cgroup.subtree_control');
  for (const one of [...needed, ...OPTIONAL_CONTROLLERS])
    if (!hasAll(read(control), [one])) tryWrite(control, `+${one}`);
  return hasAll(read(control), needed);
}

function createGroup(folder: string, limits: GroupLimits, needed: readonly string[]): ControlGroup {
  const at = (file: string) => join(folder, file);
  try {
    mkdirSync(folder, { recursive: true });
    if (needed.includes('memory')) {
      write(at('memory.max'), limits.memory);
      tryWrite(at('memory.swap.max'), 0);
      // A child that lost one of its processes is of no use.
      tryWrite(at('memory.oom.group'), 1);
    }
    if (needed.includes('pids')) write(at('pids.max'), limits.tasks);
  } catch (error) {
    void removeFolder(folder);
    throw error;
  }
  return {
    procsFiles: [at('cgroup.procs')],
    join: (pid) => write(at('cgroup.procs'), pid),
    throttle: (share = CPU_SHARE) =>
      void tryWrite(at('cpu.max'), `${Math.round(share * CPU_PERIOD_US)} ${CPU_PERIOD_US}`),
    limitTasks: (tasks) => void tryWrite(at('pids.max'), tasks),
    tasks: () => Number(read(at('pids.current'))),
    counters: () => ({
      outOfMemory: parseCounter(read(at('memory.events')), 'oom_kill'),
      refused: parseCounter(read(at('pids.events')), 'max'),
      throttled: parseCounter(read(at('cpu.stat')), 'nr_throttled'),
    }),
    kill: () => killProcesses(folder),
    remove: () => removeFolder(folder),
  };
}
