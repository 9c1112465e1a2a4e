import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
import { findOwnCgroupV1, type ProcSelfCgroupTexts, readProcSelfCgroupTexts } from './own-group.ts';

/** Folder of the launcher by controller of cgroup v1. `cpu` may be missing. */
interface ControllerFolders {
  readonly memory: string;
  readonly pids: string;
  readonly cpu: string | null;
}

/** Opens cgroup v1 below the groups of this process. Null where it is not mounted or not writable. */
export async function openCgroupsV1(
  procFiles: ProcSelfCgroupTexts = readProcSelfCgroupTexts(),
): Promise<CgroupFactory | null> {
  const own = {
    memory: findOwnCgroupV1(procFiles, 'memory'),
    pids: findOwnCgroupV1(procFiles, 'pids'),
    cpu: findOwnCgroupV1(procFiles, 'cpu'),
  };
  if (own.memory === null || own.pids === null) return null;
  const { memory, pids, cpu } = own;
  await Promise.all([memory, pids, cpu].map((base) => base && removeLeftoverCgroups(base)));
  const name = claimCgroupFolderName();
  const at = (base: string) => join(base, name);
  const bases: ControllerFolders = { memory: at(memory), pids: at(pids), cpu: cpu && at(cpu) };
  const folders = [...new Set([bases.memory, bases.pids, bases.cpu].filter((one) => one !== null))];
  const close = async () => {
    await Promise.all(folders.map(removeLauncherCgroup));
    releaseCgroupFolderName(name);
  };
  try {
    folders.forEach(makeFolder);
    await createGroup(bases, '0', { memory: 1 << 26, tasks: 8 }).remove();
  } catch {
    await close();
    return null;
  }
  let count = 0;
  return {
    mechanic: 'cgroup-v1',
    createGroup(limits) {
      count += 1;
      return createGroup(bases, String(count), limits);
    },
    close,
  };
}

function createGroup(bases: ControllerFolders, name: string, limits: ControlGroupLimits): ControlGroup {
  const memory = join(bases.memory, name);
  const pids = join(bases.pids, name);
  const cpu = bases.cpu && join(bases.cpu, name);
  const folders = [...new Set([memory, pids, cpu].filter((one) => one !== null))];
  const remove = async () => (await Promise.all(folders.map(killAndRemoveCgroup))).every(Boolean);
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    writeCgroupControlFile(join(memory, 'memory.limit_in_bytes'), limits.memory);
    // The sum of memory and swap, where the kernel counts swap.
    tryWriteCgroupControlFile(join(memory, 'memory.memsw.limit_in_bytes'), limits.memory);
    writeCgroupControlFile(join(pids, 'pids.max'), limits.tasks);
  } catch (error) {
    void remove();
    throw error;
  }
  const procsFiles = folders.map((folder) => join(folder, 'cgroup.procs'));
  return {
    procsFiles,
    join(pid) {
      for (const procsFile of procsFiles) writeCgroupControlFile(procsFile, pid);
    },
    throttle(share = CHILD_CPU_CORES) {
      if (cpu === null || !tryWriteCgroupControlFile(join(cpu, 'cpu.cfs_period_us'), CPU_PERIOD_US)) return;
      tryWriteCgroupControlFile(join(cpu, 'cpu.cfs_quota_us'), Math.round(share * CPU_PERIOD_US));
    },
    limitTasks: (tasks) => void tryWriteCgroupControlFile(join(pids, 'pids.max'), tasks),
    tasks: () => Number(readCgroupControlFile(join(pids, 'pids.current'))),
    counters: () => ({
      outOfMemory: parseCgroupCounter(readCgroupControlFile(join(memory, 'memory.oom_control')), 'oom_kill'),
      refused: parseCgroupCounter(readCgroupControlFile(join(pids, 'pids.events')), 'max'),
      throttled: cpu === null ? 0 : parseCgroupCounter(readCgroupControlFile(join(cpu, 'cpu.stat')), 'nr_throttled'),
    }),
    kill: () => folders.forEach(killCgroupProcesses),
    remove,
  };
}
