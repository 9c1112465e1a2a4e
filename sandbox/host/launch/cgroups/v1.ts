import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  claimName,
  counter,
  killIn,
  makeFolder,
  read,
  releaseName,
  removeFolder,
  removeTree,
  sweep,
  write,
  writes,
} from './folders.ts';
import { type Cgroups, type Group, type GroupLimits, PERIOD, SHARE } from './group.ts';
import { type Facts, ownV1, readFacts } from './where.ts';

/** One hierarchy per controller, of which `cpu` may be missing. */
interface Bases {
  readonly memory: string;
  readonly pids: string;
  readonly cpu: string | null;
}

/** The older hierarchies, below the groups this process is in. Null where they are not there or not ours to write. */
export async function openV1(facts: Facts = readFacts()): Promise<Cgroups | null> {
  const own = { memory: ownV1(facts, 'memory'), pids: ownV1(facts, 'pids'), cpu: ownV1(facts, 'cpu') };
  if (own.memory === null || own.pids === null) return null;
  const { memory, pids, cpu } = own;
  await Promise.all([memory, pids, cpu].map((base) => base && sweep(base)));
  const name = claimName();
  const at = (base: string) => join(base, name);
  const bases: Bases = { memory: at(memory), pids: at(pids), cpu: cpu && at(cpu) };
  const folders = [...new Set([bases.memory, bases.pids, bases.cpu].filter((one) => one !== null))];
  const close = async () => {
    await Promise.all(folders.map(removeTree));
    releaseName(name);
  };
  try {
    folders.forEach(makeFolder);
    await makeGroup(bases, '0', { memory: 1 << 26, tasks: 8 }).remove();
  } catch {
    await close();
    return null;
  }
  let count = 0;
  return {
    mechanic: 'cgroup-v1',
    make(limits) {
      count += 1;
      return makeGroup(bases, String(count), limits);
    },
    close,
  };
}

function makeGroup(bases: Bases, name: string, limits: GroupLimits): Group {
  const memory = join(bases.memory, name);
  const pids = join(bases.pids, name);
  const cpu = bases.cpu && join(bases.cpu, name);
  const folders = [...new Set([memory, pids, cpu].filter((one) => one !== null))];
  const remove = async () => (await Promise.all(folders.map(removeFolder))).every(Boolean);
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    write(join(memory, 'memory.limit_in_bytes'), limits.memory);
    // Together with swap, where the kernel counts swap at all.
    writes(join(memory, 'memory.memsw.limit_in_bytes'), limits.memory);
    write(join(pids, 'pids.max'), limits.tasks);
  } catch (error) {
    void remove();
    throw error;
  }
  const doors = folders.map((folder) => join(folder, 'cgroup.procs'));
  return {
    doors,
    join(pid) {
      for (const door of doors) write(door, pid);
    },
    throttle(share = SHARE) {
      if (cpu === null || !writes(join(cpu, 'cpu.cfs_period_us'), PERIOD)) return;
      writes(join(cpu, 'cpu.cfs_quota_us'), Math.round(share * PERIOD));
    },
    limitTasks: (tasks) => void writes(join(pids, 'pids.max'), tasks),
    tasks: () => Number(read(join(pids, 'pids.current'))),
    counters: () => ({
      outOfMemory: counter(read(join(memory, 'memory.oom_control')), 'oom_kill'),
      refused: counter(read(join(pids, 'pids.events')), 'max'),
      throttled: cpu === null ? 0 : counter(read(join(cpu, 'cpu.stat')), 'nr_throttled'),
    }),
    kill: () => folders.forEach(killIn),
    remove,
  };
}
