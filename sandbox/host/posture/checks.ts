import type { ChildEnd } from '../child.ts';
import type { Counters } from '../launch/cgroups/group.ts';
import { OPEN_FILES, type Plan, VARIABLES } from '../launch/plan.ts';
import type { Layer } from './posture.ts';
import { type Answer, refused, valueIn } from './talk.ts';

/** What the self-test children and the host saw. */
export interface Findings {
  readonly plan: Plan;
  /** Lines of /proc/<pid>/status of the service and of a child. */
  readonly service: Readonly<Record<string, string>>;
  readonly status: Readonly<Record<string, string>>;
  /** Limits of a child under the final plan. */
  readonly limits: Readonly<Record<string, number>>;
  readonly environment: Answer;
  /** Files, pipes and sockets that are open in a child, and in the service. */
  readonly descriptors: Answer;
  readonly own: readonly string[];
  readonly root: Answer;
  readonly reads: readonly Answer[];
  readonly writes: readonly Answer[];
  readonly connects: readonly Answer[];
  readonly listen: Answer;
  readonly fork: Answer;
  readonly shell: Answer;
  readonly signal: Answer;
  readonly setuid: Answer;
  /** Has anything arrived at what the host had laid out? */
  readonly isTouched: boolean;
  /** A trivial job in an isolate, before and under the final limits. */
  readonly isolates: readonly Answer[];
  readonly runner: boolean;
  readonly open: Answer;
  readonly reserve: Answer;
  readonly hoard: Answer;
  /** Bytes after which a hoard has proved that nothing holds it. */
  readonly hoardTarget: number;
  /** How the hoarding child ended; null where it is still there. */
  readonly hoardEnd: ChildEnd | null;
  readonly counters: Counters | null;
}

type Check = readonly [name: string, holds: boolean];

/** A layer stands where all of its checks hold. */
export const CHECKS: { readonly [L in Layer]: (findings: Findings) => readonly Check[] } = {
  isolate: ({ isolates, runner }) => [
    ['a job in an isolate', isolates.length > 0 && isolates.every((answer) => valueIn(answer) === '[42]')],
    ['the runner starts', runner],
  ],
  process: ({ environment, descriptors, own }) => [
    ['no variables of the service', isClear(valueIn(environment))],
    ['no open files of the service', isApart(valueIn(descriptors), own)],
  ],
  'no-new-privileges': ({ status }) => [['the promise', status.NoNewPrivs === '1']],
  'unprivileged-user': ({ status, setuid }) => [
    ['not root', idsOf(status).length === 4 && idsOf(status).every((id) => id > 0)],
    ['no capabilities', [status.CapEff, status.CapPrm].every((set) => /^0+$/.test(set ?? ''))],
    ['becoming root', refused(setuid)],
  ],
  filesystem: ({ reads, writes, root, isTouched }) => [
    ['reading', reads.length > 0 && reads.every(refused)],
    ['writing', writes.length > 0 && writes.every(refused)],
    ['a root of its own', isBare(valueIn(root))],
    ['nothing arrived', !isTouched],
  ],
  network: ({ connects, isTouched }) => [
    ['connecting', connects.length > 0 && connects.every(refused)],
    ['nothing arrived', !isTouched],
  ],
  'process-namespace': ({ service, status, signal }) => [
    ['a namespace of its own', depthOf(status) > depthOf(service)],
    ['signalling the service', refused(signal)],
  ],
  seccomp: ({ status, fork, listen, shell }) => [
    ['a filter', status.Seccomp === '2'],
    ['starting a process', errorOf(fork) === 'EPERM'],
    ['starting a shell', errorOf(shell) === 'EPERM' || errorOf(shell) === 'ENOENT'],
    ['making a socket', errorOf(listen) === 'EPERM'],
  ],
  rlimits: ({ plan, limits, open, reserve }) => [
    ['no core files', limits['core file size'] === 0],
    ['no files written', limits['file size'] === 0],
    ['few open files', limits['open files'] === OPEN_FILES && Number(valueIn(open) ?? OPEN_FILES) < OPEN_FILES],
    ['threads', (plan.limits?.tasks ?? null) === null || limits.processes === plan.limits?.tasks],
    ['addresses', (limits['address space'] ?? Infinity) <= (plan.limits?.addresses ?? 0)],
    ['reserving more', refused(reserve)],
  ],
  'memory-limit': ({ plan, hoard, hoardTarget, hoardEnd }) => [
    ['hoarding', hoardEnd === null ? Number(valueIn(hoard) ?? hoardTarget) < hoardTarget : isOfMemory(hoardEnd, plan)],
  ],
  'pids-limit': ({ counters }) => [['threads refused by the group', (counters?.refused ?? 0) > 0]],
  'cpu-limit': ({ counters }) => [['throttled by the group', (counters?.throttled ?? 0) > 0]],
};

/** Killed by its group; or dead of its own, as V8 is where the limit of addresses refuses it something. */
const isOfMemory = (end: ChildEnd, { limits }: Plan): boolean => end.memory || (limits?.addresses ?? null) !== null;

/** bubblewrap sets the working folder, and nothing else is there but what children are meant to have. */
function isClear(environment: unknown): boolean {
  if (typeof environment !== 'object' || environment === null) return false;
  return Object.entries({ ...environment }).every(([name, value]) => value === { ...VARIABLES, PWD: '/' }[name]);
}

const isApart = (descriptors: unknown, own: readonly string[]): boolean =>
  Array.isArray(descriptors) && !descriptors.some(({ file }) => own.includes(file));

const HOST_FOLDERS = ['boot', 'dev', 'etc', 'home', 'proc', 'root', 'run', 'srv', 'sys', 'tmp', 'var'];
/** Its program is there, and of the machine nothing but the folders of libraries. */
const isBare = (root: unknown): boolean =>
  Array.isArray(root) && root.includes('runner.cjs') && !HOST_FOLDERS.some((name) => root.includes(name));

const errorOf = (answer: Answer): string | null => ('error' in answer ? answer.error : null);
const idsOf = (status: Readonly<Record<string, string>>): readonly number[] =>
  (status.Uid ?? '').split(/\s+/).filter(Boolean).map(Number);
/** How many process namespaces a process is in. */
const depthOf = ({ NSpid = '' }: Readonly<Record<string, string>>): number => NSpid.split(/\s+/).filter(Boolean).length;
