import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, openSync } from 'node:fs';
import { Duplex } from 'node:stream';
import type { Child, ChildEnd } from '../child.ts';
import type { Bench } from './bench.ts';
import type { Group } from './cgroups/group.ts';
import { commandOf } from './command.ts';
import { endOf } from './end.ts';
import { covering } from './inherited.ts';
import { killTree } from './kill.ts';
import { CARRIERS, type Plan, TASKS, VARIABLES } from './plan.ts';
import { bytesOf, innermost, statusOf, threadTime } from './proc.ts';

/** A child with what only the launcher and its self-tests look at. */
export interface Started extends Child {
  readonly group: Group | null;
  /** The end of what it wrote to stderr, where that was asked for. */
  complaint(): string;
}

/** A start takes all it can get; from here on the child gets its share of a core. Milliseconds. */
const HEAD_START = 300;
const COMPLAINT = 500;

/**
 * Starts a program under a plan. Whatever goes wrong, a child is the answer: one that has ended, with a closed channel.
 */
export function startProgram(bench: Bench, plan: Plan, program: string, diagnose = false): Started {
  const uid = plan.uids?.take() ?? null;
  let group: Group | null = null;
  let filter: number | null = null;
  let close = () => {};
  let spawned: ChildProcess | null = null;
  try {
    group = plan.cgroups?.make({ memory: plan.memory, tasks: TASKS + CARRIERS }) ?? null;
    if (plan.carrier === 'user' && uid !== null) openDoors(group, uid);
    // Opened for each child: they would share the position in it.
    filter = plan.seccomp && bench.filter !== null ? openSync(bench.filter, 'r') : null;
    const pipes = [
      'ignore',
      'ignore',
      diagnose ? 'pipe' : 'ignore',
      'pipe',
      ...(filter === null ? [] : [filter]),
    ] as const;
    const cover = covering(pipes, bench.inherited);
    close = cover.close;
    const [command = '', ...parameters] = commandOf(bench, plan, program, group, uid);
    spawned = spawn(command, parameters, {
      // Its own session: a signal of the terminal is meant for the service alone.
      detached: true,
      cwd: '/',
      env: { ...VARIABLES },
      stdio: cover.stdio,
      ...(plan.carrier !== 'root' && uid !== null ? { uid, gid: uid } : {}),
    });
    if (plan.carrier === 'none' && spawned.pid !== undefined) group?.join(spawned.pid);
  } catch {
    // No room for another descriptor, process or group: said by the child that has ended.
    spawned?.kill('SIGKILL');
  } finally {
    if (filter !== null) closeSync(filter);
    close();
  }
  const child = toChild(spawned, plan, group);
  void child.ended.then(() => uid !== null && plan.uids?.free(uid));
  return child;
}

/** Lets a child that is born as another user join its groups; inside it cannot see them. */
function openDoors(group: Group | null, uid: number): void {
  for (const door of group?.doors ?? []) chownSync(door, uid, uid);
}

function toChild(spawned: ChildProcess | null, plan: Plan, group: Group | null): Started {
  const pid = spawned?.pid;
  const stream = spawned?.stdio?.[3];
  const channel = stream instanceof Duplex ? stream : new Duplex({ read() {}, write: (_c, _e, done) => done() });
  // A child that is killed in the middle of a frame is no error of the service.
  channel.on('error', () => {});
  if (spawned === null || pid === undefined) channel.destroy();
  spawned?.on('error', () => {});
  let complaint = '';
  spawned?.stderr?.on('data', (text) => {
    complaint = `${complaint}${text}`.slice(-COMPLAINT);
  });
  let isOver = false;
  const ended: Promise<ChildEnd> = endOf(spawned, plan, group).then((end) => {
    isOver = true;
    clearTimeout(timer);
    channel.destroy();
    return end;
  });
  const timer = setTimeout(() => group?.throttle(), HEAD_START).unref();
  return {
    pid: pid ?? 0,
    channel,
    ended,
    group,
    complaint: () => complaint.trim(),
    kill() {
      if (!isOver && spawned !== null) killTree(spawned, plan.carrier);
    },
    async resident() {
      return isOver || pid === undefined ? 0 : bytesOf((await statusOf(innermost(pid))).VmRSS);
    },
    cpuTime() {
      return isOver || pid === undefined ? undefined : threadTime(innermost(pid));
    },
  };
}
