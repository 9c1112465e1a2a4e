import { randomUUID } from 'node:crypto';
import { existsSync, fstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildLaunchPlan } from '../launch/launch-plan.ts';
import { findGuestPid, parseKilobytesToBytes, readProcStatus } from '../launch/proc.ts';
import { type StartedChild, startProgramUnderLaunchPlan } from '../launch/start.ts';
import type { ProbeFindings } from './checks.ts';
import type { ConfinementCanary } from './confinement-canary.ts';
import type { MachineCapabilities } from './launch-plans.ts';
import { createProbeClient, PROBE_ENDED_ANSWER, type ProbeAnswer, type ProbeClient } from './probe-client.ts';

export type ProbeResults = Omit<
  ProbeFindings,
  'plan' | 'limits' | 'isTouched' | 'isolates' | 'runner' | 'open' | 'reserve' | 'counters' | `hoard${string}`
> & {
  /** Peak address space of the child in bytes. */
  readonly peak: number;
  readonly isolate: ProbeAnswer;
};

const MIB = 1024 * 1024;

/**
 * Runs every attempt of the probe program under a plan and observes the child from outside. Resolves with the last line
 * of stderr where the child does not start.
 */
export async function runProbe(
  machine: MachineCapabilities,
  plan: ChildLaunchPlan,
  probe: string,
  canary: ConfinementCanary,
): Promise<ProbeResults | string> {
  const child = startProgramUnderLaunchPlan(machine.resources, plan, probe, true);
  const client = createProbeClient(child);
  try {
    if (!(await client.ready)) return await readLastError(child);
    const inner = findGuestPid(child.pid);
    const { ask } = client;
    const each = (attempt: string, list: readonly object[]) => Promise.all(list.map((one) => ask(attempt, one)));
    const isolate = await probeIsolate(machine, plan, client);
    const [environment, descriptors, root, reads, connects, listen, fork, shell, signal, setuid] = await Promise.all([
      ask('environment'),
      ask('descriptors'),
      ask('list', { path: '/' }),
      each(
        'read',
        [canary.file, '/etc/passwd', `/proc/${process.pid}/environ`].map((path) => ({ path })),
      ),
      each('connect', canary.listeners),
      ask('listen', { host: '127.0.0.1', port: 0 }),
      ask('run', { path: plan.namespaceMode === 'none' ? machine.resources.node : '/node', args: ['--version'] }),
      ask('run', { path: '/bin/sh', args: ['-c', 'exit 0'] }),
      ask('signal', { pid: process.pid, signal: 0 }),
      ask('setuid', { uid: 0 }),
      ask('datagram', { host: '127.0.0.1', port: canary.port }),
    ]);
    const status = await readProcStatus(inner);
    const peak = parseKilobytesToBytes(status.VmPeak);
    const service = await readProcStatus(process.pid);
    const writes = await tryWrites(client, canary);
    return {
      environment,
      descriptors,
      serviceFiles: listOpenFiles(),
      root,
      reads,
      connects,
      listen,
      fork,
      shell,
      signal,
      setuid,
      status,
      service,
      peak,
      isolate,
      writes,
    };
  } finally {
    child.kill();
    await child.ended;
  }
}

/** Open files of the service, as `device:inode`. */
function listOpenFiles(): readonly string[] {
  const list = process.platform === 'linux' ? readdirSync('/proc/self/fd').map(Number) : [0, 1, 2];
  return list.flatMap((fd) => {
    try {
      const { dev, ino } = fstatSync(fd);
      return [`${dev}:${ino}`];
    } catch {
      return [];
    }
  });
}

/** Attempts to write where a child must not write. Files that do appear are removed. */
async function tryWrites({ ask }: ProbeClient, canary: ConfinementCanary) {
  const name = `tenon-probe-${randomUUID()}`;
  const paths = [
    join(canary.folder, name),
    ...['/', '/tmp', '/var/tmp', '/dev/shm'].map((folder) => join(folder, name)),
  ];
  const answers = await Promise.all(paths.map((path) => ask('write', { path })));
  const exists = paths.map((path) => existsSync(path));
  for (const path of paths) rmSync(path, { force: true });
  return answers.map((answer, index) => (exists[index] ? { value: true } : answer));
}

/** The path of a file as the child sees it. */
export const pathInChild = ({ namespaceMode }: ChildLaunchPlan, outside: string, inside: string) =>
  namespaceMode === 'none' ? outside : inside;

/** Runs a trivial script in an isolate, as the runner does. */
export const probeIsolate = (
  { resources, memory }: MachineCapabilities,
  plan: ChildLaunchPlan,
  { ask }: ProbeClient,
  keep = false,
) =>
  resources.native === null
    ? Promise.resolve(PROBE_ENDED_ANSWER)
    : ask('isolate', {
        path: pathInChild(plan, resources.native, '/isolated_vm.node'),
        memory: Math.round(memory / MIB),
        keep,
      });

async function readLastError(child: StartedChild): Promise<string> {
  child.kill();
  const { code, signal } = await child.ended;
  return child.stderr().split('\n').at(-1) || `ended with ${signal ?? code}`;
}
