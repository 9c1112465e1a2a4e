import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  claimCgroupFolderName,
  killGroupProcesses,
  makeFolder,
  parseCounter,
  readControlFile,
  releaseCgroupFolderName,
  removeGroupFolder,
  removeLauncherCgroup,
  removeLeftoverGroups,
  tryWriteControlFile,
  writeControlFile,
} from './folders.ts';
import { type Cgroups, CHILD_CPU_CORES, type ControlGroup, type ControlGroupLimits, CPU_PERIOD_US } from './group.ts';
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
): Promise<Cgroups | null> {
  const own = {
    memory: findOwnCgroupV1(procFiles, 'memory'),
    pids: findOwnCgroupV1(procFiles, 'pids'),
    cpu: findOwnCgroupV1(procFiles, 'cpu'),
  };
  if (own.memory === null || own.pids === null) return null;
  const { memory, pids, cpu } = own;
  await Promise.all([memory, pids, cpu].map((base) => base && removeLeftoverGroups(base)));
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
  const remove = async () => (await Promise.all(folders.map(removeGroupFolder))).every(Boolean);
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    writeControlFile(join(memory, 'memory.limit_in_bytes'), limits.memory);
    // The sum of memory and swap, where the kernel counts swap.
    tryWriteControlFile(join(memory, 'memory.memsw.limit_in_bytes'), limits.memory);
    writeControlFile(join(pids, 'pids.max'), limits.tasks);
  } catch (error) {
    void remove();
    throw error;
  }
  const procsFiles = folders.map((folder) => join(folder, 'cgroup.procs'));
  return {
    procsFiles,
    join(pid) {
      for (const procsFile of procsFiles) writeControlFile(procsFile, pid);
    },
    throttle(share = CHILD_CPU_CORES) {
      if (cpu === null || !tryWriteControlFile(join(cpu, 'cpu.cfs_period_us'), CPU_PERIOD_US)) return;
      tryWriteControlFile(join(cpu, 'cpu.cfs_quota_us'), Math.round(share * CPU_PERIOD_US));
    },
    limitTasks: (tasks) => void tryWriteControlFile(join(pids, 'pids.max'), tasks),
    tasks: () => Number(readControlFile(join(pids, 'pids.current'))),
    counters: () => ({
      outOfMemory: parseCounter(readControlFile(join(memory, 'memory.oom_control')), 'oom_kill'),
      refused: parseCounter(readControlFile(join(pids, 'pids.events')), 'max'),
      throttled: cpu === null ? 0 : parseCounter(readControlFile(join(cpu, 'cpu.stat')), 'nr_throttled'),
    }),
    kill: () => folders.forEach(killGroupProcesses),
    remove,
  };
}
