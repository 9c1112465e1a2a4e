import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, openSync } from 'node:fs';
import { Duplex } from 'node:stream';
import type { ChildProcessExit, ConfinedChild } from '../confined-child.ts';
import type { ControlGroup } from './cgroups/group.ts';
import { buildChildCommand } from './command.ts';
import { replaceInheritedDescriptorsWithNull } from './inherited-descriptors.ts';
import { killProcessTree } from './kill.ts';
import type { LaunchFiles } from './launch-files.ts';
import { BUBBLEWRAP_TASKS, CHILD_ENVIRONMENT, type ChildLaunchPlan, MAX_CHILD_THREADS } from './launch-plan.ts';
import { findGuestPid, parseKilobytesToBytes, readMainThreadCpuTime, readProcStatus } from './proc.ts';
import { waitForChildEnd } from './wait-for-end.ts';

/** A child with members for the launcher and its self-tests. */
export interface StartedChild extends ConfinedChild {
  readonly group: ControlGroup | null;
  /** The last characters written to stderr; empty unless started with `diagnose`. */
  stderr(): string;
}

/** Milliseconds after which the CPU limit is set, so that the start itself is fast. */
const UNTHROTTLED_START_MS = 300;
const MAX_STDERR_LENGTH = 500;

/** Starts a program under a plan. Never throws: a child that cannot be started has ended, with a closed channel. */
export function startProgramUnderLaunchPlan(
  resources: LaunchFiles,
  plan: ChildLaunchPlan,
  program: string,
  diagnose = false,
): StartedChild {
  const uid = plan.uids?.take() ?? null;
  let group: ControlGroup | null = null;
  let filter: number | null = null;
  let close = () => {};
  let spawned: ChildProcess | null = null;
  try {
    group = plan.cgroups?.createGroup({ memory: plan.memory, tasks: MAX_CHILD_THREADS + BUBBLEWRAP_TASKS }) ?? null;
    if (plan.namespaceMode === 'user' && uid !== null) allowJoining(group, uid);
    // Opened for each child, since children would share the file position.
    filter = plan.seccomp && resources.seccompFilter !== null ? openSync(resources.seccompFilter, 'r') : null;
    const pipes = [
      'ignore',
      'ignore',
      diagnose ? 'pipe' : 'ignore',
      'pipe',
      ...(filter === null ? [] : [filter]),
    ] as const;
    const cover = replaceInheritedDescriptorsWithNull(pipes, resources.inheritedDescriptors);
    close = cover.close;
    const [command = '', ...parameters] = buildChildCommand(resources, plan, program, group, uid);
    spawned = spawn(command, parameters, {
      // The child has its own session, since signals of the terminal are for the service alone.
      detached: true,
      cwd: '/',
      env: { ...CHILD_ENVIRONMENT },
      stdio: cover.stdio,
      ...(plan.namespaceMode !== 'root' && uid !== null ? { uid, gid: uid } : {}),
    });
    if (plan.namespaceMode === 'none' && spawned.pid !== undefined) group?.join(spawned.pid);
  } catch {
    // No descriptor, process or group was available. The returned child reports it as its end.
    spawned?.kill('SIGKILL');
  } finally {
    if (filter !== null) closeSync(filter);
    close();
  }
  const child = toChild(spawned, plan, group);
  void child.ended.then(() => uid !== null && plan.uids?.free(uid));
  return child;
}

/**
 * Lets a child that is spawned as another user join its control groups: the user owns their files `cgroup.procs`.
 * Inside of its namespaces the child cannot see these files.
 */
function allowJoining(group: ControlGroup | null, uid: number): void {
  for (const procsFile of group?.procsFiles ?? []) chownSync(procsFile, uid, uid);
}

function toChild(spawned: ChildProcess | null, plan: ChildLaunchPlan, group: ControlGroup | null): StartedChild {
  const pid = spawned?.pid;
  const stream = spawned?.stdio?.[3];
  const channel = stream instanceof Duplex ? stream : new Duplex({ read() {}, write: (_c, _e, done) => done() });
  // Killing a child in the middle of a frame is no error of the service.
  channel.on('error', () => {});
  if (spawned === null || pid === undefined) channel.destroy();
  spawned?.on('error', () => {});
  let stderrTail = '';
  spawned?.stderr?.on('data', (text) => {
    stderrTail = `${stderrTail}${text}`.slice(-MAX_STDERR_LENGTH);
  });
  let isOver = false;
  const ended: Promise<ChildProcessExit> = waitForChildEnd(spawned, plan, group).then((end) => {
    isOver = true;
    clearTimeout(timer);
    channel.destroy();
    return end;
  });
  const timer = setTimeout(() => group?.throttle(), UNTHROTTLED_START_MS).unref();
  return {
    pid: pid ?? 0,
    channel,
    ended,
    group,
    stderr: () => stderrTail.trim(),
    kill() {
      if (!isOver && spawned !== null) killProcessTree(spawned, plan.namespaceMode);
    },
    async resident() {
      return isOver || pid === undefined ? 0 : parseKilobytesToBytes((await readProcStatus(findGuestPid(pid))).VmRSS);
    },
    cpuTime() {
      return isOver || pid === undefined ? undefined : readMainThreadCpuTime(findGuestPid(pid));
    },
  };
}
