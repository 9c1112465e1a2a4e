import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
import { stepAside } from './step-aside.ts';
import { type Facts, ownV2, readFacts } from './where.ts';

/** What must be there, and what is taken where it is. */
const NEEDED = ['memory', 'pids'];
const WANTED = ['cpu'];
const ASIDE = `tenon-service-${process.pid}`;

/**
 * The newer hierarchy, below the group this process is in: a container with its groups writable, a unit or a scope with
 * `Delegate=yes`, a service of root. Null where the controllers are not there or not ours to hand on.
 */
export async function openV2(facts: Facts = readFacts(), needed: readonly string[] = NEEDED): Promise<Cgroups | null> {
  const found = ownV2(facts);
  if (found === null) return null;
  // A launcher before this one stepped aside already.
  const base = basename(found) === ASIDE ? dirname(found) : found;
  if (!hasAll(read(join(base, 'cgroup.controllers')), needed)) return null;
  await sweep(base);
  const name = claimName();
  const folder = join(base, name);
  let back = async () => {};
  const close = async () => {
    await removeTree(folder);
    await back();
    releaseName(name);
  };
  try {
    makeFolder(folder);
    if (!handOn(base, needed)) {
      const undo = stepAside(base, join(base, ASIDE));
      if (undo !== null) back = undo;
      if (!handOn(base, needed)) throw new Error('the controllers cannot be handed on');
    }
    if (!handOn(folder, needed)) throw new Error('the controllers cannot be handed on');
    await makeGroup(join(folder, '0'), { memory: 1 << 26, tasks: 8 }, needed).remove();
  } catch {
    await close();
    return null;
  }
  let count = 0;
  return {
    mechanic: 'cgroup-v2',
    make(limits) {
      count += 1;
      return makeGroup(join(folder, String(count)), limits, needed);
    },
    close,
  };
}

const hasAll = (list: string, needed: readonly string[]) => needed.every((one) => list.split(' ').includes(one));

/** Lets the groups inside of a folder use the controllers. */
function handOn(folder: string, needed: readonly string[]): boolean {
  const control = join(folder, 'cgroup.subtree_control');
  for (const one of [...needed, ...WANTED]) if (!hasAll(read(control), [one])) writes(control, `+${one}`);
  return hasAll(read(control), needed);
}

function makeGroup(folder: string, limits: GroupLimits, needed: readonly string[]): Group {
  const at = (file: string) => join(folder, file);
  try {
    mkdirSync(folder, { recursive: true });
    if (needed.includes('memory')) {
      write(at('memory.max'), limits.memory);
      writes(at('memory.swap.max'), 0);
      // A child that lost one of its processes is of no use.
      writes(at('memory.oom.group'), 1);
    }
    if (needed.includes('pids')) write(at('pids.max'), limits.tasks);
  } catch (error) {
    void removeFolder(folder);
    throw error;
  }
  return {
    doors: [at('cgroup.procs')],
    join: (pid) => write(at('cgroup.procs'), pid),
    throttle: (share = SHARE) => void writes(at('cpu.max'), `${Math.round(share * PERIOD)} ${PERIOD}`),
    limitTasks: (tasks) => void writes(at('pids.max'), tasks),
    tasks: () => Number(read(at('pids.current'))),
    counters: () => ({
      outOfMemory: counter(read(at('memory.events')), 'oom_kill'),
      refused: counter(read(at('pids.events')), 'max'),
      throttled: counter(read(at('cpu.stat')), 'nr_throttled'),
    }),
    kill: () => killIn(folder),
    remove: () => removeFolder(folder),
  };
}
