import { randomUUID } from 'node:crypto';
import { existsSync, fstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from '../launch/plan.ts';
import { bytesOf, innermost, statusOf } from '../launch/proc.ts';
import { type Started, startProgram } from '../launch/start.ts';
import type { Bait } from './bait.ts';
import type { Findings } from './checks.ts';
import type { Means } from './plans.ts';
import { type Answer, ENDED, type Talk, talkTo } from './talk.ts';

export type Attacked = Omit<
  Findings,
  'plan' | 'limits' | 'isTouched' | 'isolates' | 'runner' | 'open' | 'reserve' | 'counters' | `hoard${string}`
> & {
  /** Bytes of addresses it had at most. */
  readonly peak: number;
  readonly isolate: Answer;
};

const MIB = 1024 * 1024;

/**
 * Lets the hostile program try everything under a plan, and looks at it from outside meanwhile. Answers with the last
 * words of a child that does not even start.
 */
export async function attack(means: Means, plan: Plan, probe: string, bait: Bait): Promise<Attacked | string> {
  const child = startProgram(means.bench, plan, probe, true);
  const talk = talkTo(child);
  try {
    if (!(await talk.ready)) return await complaintOf(child);
    const inner = innermost(child.pid);
    const { ask } = talk;
    const each = (attempt: string, list: readonly object[]) => Promise.all(list.map((one) => ask(attempt, one)));
    const isolate = await askIsolate(means, plan, talk);
    const [environment, descriptors, root, reads, connects, listen, fork, shell, signal, setuid] = await Promise.all([
      ask('environment'),
      ask('descriptors'),
      ask('list', { path: '/' }),
      each(
        'read',
        [bait.file, '/etc/passwd', `/proc/${process.pid}/environ`].map((path) => ({ path })),
      ),
      each('connect', bait.listeners),
      ask('listen', { host: '127.0.0.1', port: 0 }),
      ask('run', { path: plan.carrier === 'none' ? means.bench.node : '/node', args: ['--version'] }),
      ask('run', { path: '/bin/sh', args: ['-c', 'exit 0'] }),
      ask('signal', { pid: process.pid, signal: 0 }),
      ask('setuid', { uid: 0 }),
      ask('datagram', { host: '127.0.0.1', port: bait.port }),
    ]);
    const status = await statusOf(inner);
    const peak = bytesOf(status.VmPeak);
    const service = await statusOf(process.pid);
    const writes = await tryWrites(talk, bait);
    return {
      environment,
      descriptors,
      own: openFiles(),
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

/** What the service itself has open, as device and number of the file behind it. */
function openFiles(): readonly string[] {
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

/** Where nothing of the kind may appear; what did is taken away again. */
async function tryWrites({ ask }: Talk, bait: Bait) {
  const name = `tenon-probe-${randomUUID()}`;
  const paths = [join(bait.folder, name), ...['/', '/tmp', '/var/tmp', '/dev/shm'].map((folder) => join(folder, name))];
  const answers = await Promise.all(paths.map((path) => ask('write', { path })));
  const made = paths.map((path) => existsSync(path));
  for (const path of paths) rmSync(path, { force: true });
  return answers.map((answer, index) => (made[index] ? { value: true } : answer));
}

/** Where a child sees a file. */
export const pathOf = ({ carrier }: Plan, outside: string, inside: string) => (carrier === 'none' ? outside : inside);

/** A trivial job in an isolate, as a runner does it. */
export const askIsolate = ({ bench, memory }: Means, plan: Plan, { ask }: Talk, keep = false) =>
  bench.native === null
    ? Promise.resolve(ENDED)
    : ask('isolate', { path: pathOf(plan, bench.native, '/isolated_vm.node'), memory: Math.round(memory / MIB), keep });

async function complaintOf(child: Started): Promise<string> {
  child.kill();
  const { code, signal } = await child.ended;
  return child.complaint().split('\n').at(-1) || `ended with ${signal ?? code}`;
}
