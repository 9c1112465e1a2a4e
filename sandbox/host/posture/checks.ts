import type { ChildProcessExit } from '../confined-child.ts';
import type { ControlGroupCounters } from '../launch/cgroups/group.ts';
import { CHILD_ENVIRONMENT, type ChildLaunchPlan, MAX_OPEN_FILES } from '../launch/launch-plan.ts';
import type { ConfinementLayer } from './confinement-layers.ts';
import { isAttemptRefusedByOs, type ProbeAnswer, probeValueOf } from './probe-client.ts';

/** Observations of the self-test children and of the host. */
export interface ProbeFindings {
  readonly plan: ChildLaunchPlan;
  /** Lines of /proc/<pid>/status of the service; those of a child are in `status`. */
  readonly service: Readonly<Record<string, string>>;
  readonly status: Readonly<Record<string, string>>;
  /** Soft limits of a child under the final plan. */
  readonly limits: Readonly<Record<string, number>>;
  readonly environment: ProbeAnswer;
  /** Files, pipes and sockets that are open in a child; those of the service are in `serviceFiles`. */
  readonly descriptors: ProbeAnswer;
  readonly serviceFiles: readonly string[];
  readonly root: ProbeAnswer;
  readonly reads: readonly ProbeAnswer[];
  readonly writes: readonly ProbeAnswer[];
  readonly connects: readonly ProbeAnswer[];
  readonly listen: ProbeAnswer;
  readonly fork: ProbeAnswer;
  readonly shell: ProbeAnswer;
  readonly signal: ProbeAnswer;
  readonly setuid: ProbeAnswer;
  /** True where a child has reached a canary resource. */
  readonly isTouched: boolean;
  /** Results of a trivial script in an isolate, before and under the final limits. */
  readonly isolates: readonly ProbeAnswer[];
  readonly runner: boolean;
  readonly open: ProbeAnswer;
  readonly reserve: ProbeAnswer;
  readonly hoard: ProbeAnswer;
  /** Bytes of allocated memory that prove that no limit applies. */
  readonly hoardTarget: number;
  /** How the child that allocates memory ended; null where it did not end. */
  readonly hoardEnd: ChildProcessExit | null;
  readonly counters: ControlGroupCounters | null;
}

type LayerCheck = readonly [name: string, holds: boolean];

/** The checks of each layer. A layer holds where all of its checks hold. */
export const CONFINEMENT_LAYER_CHECKS: {
  readonly [L in ConfinementLayer]: (findings: ProbeFindings) => readonly LayerCheck[];
} = {
  isolate: ({ isolates, runner }) => [
    ['a job in an isolate', isolates.length > 0 && isolates.every((answer) => probeValueOf(answer) === '[42]')],
    ['the runner starts', runner],
  ],
  process: ({ environment, descriptors, serviceFiles }) => [
    ['no variables of the service', isCleanEnvironment(probeValueOf(environment))],
    ['no open files of the service', sharesNoFile(probeValueOf(descriptors), serviceFiles)],
  ],
  'no-new-privileges': ({ status }) => [['the promise', status.NoNewPrivs === '1']],
  'unprivileged-user': ({ status, setuid }) => [
    ['not root', parseUids(status).length === 4 && parseUids(status).every((id) => id > 0)],
    ['no capabilities', [status.CapEff, status.CapPrm].every((set) => /^0+$/.test(set ?? ''))],
    ['becoming root', isAttemptRefusedByOs(setuid)],
  ],
  filesystem: ({ reads, writes, root, isTouched }) => [
    ['reading', reads.length > 0 && reads.every(isAttemptRefusedByOs)],
    ['writing', writes.length > 0 && writes.every(isAttemptRefusedByOs)],
    ['a root of its own', isOwnRoot(probeValueOf(root))],
    ['nothing arrived', !isTouched],
  ],
  network: ({ connects, isTouched }) => [
    ['connecting', connects.length > 0 && connects.every(isAttemptRefusedByOs)],
    ['nothing arrived', !isTouched],
  ],
  'process-namespace': ({ service, status, signal }) => [
    ['a namespace of its own', countPidNamespaces(status) > countPidNamespaces(service)],
    ['signalling the service', isAttemptRefusedByOs(signal)],
  ],
  seccomp: ({ status, fork, listen, shell }) => [
    ['a filter', status.Seccomp === '2'],
    ['starting a process', getError(fork) === 'EPERM'],
    ['starting a shell', getError(shell) === 'EPERM' || getError(shell) === 'ENOENT'],
    ['making a socket', getError(listen) === 'EPERM'],
  ],
  rlimits: ({ plan, limits, open, reserve }) => [
    ['no core files', limits['core file size'] === 0],
    ['no files written', limits['file size'] === 0],
    [
      'few open files',
      limits['open files'] === MAX_OPEN_FILES && Number(probeValueOf(open) ?? MAX_OPEN_FILES) < MAX_OPEN_FILES,
    ],
    ['threads', (plan.limits?.tasks ?? null) === null || limits.processes === plan.limits?.tasks],
    ['addresses', (limits['address space'] ?? Infinity) <= (plan.limits?.addresses ?? 0)],
    ['reserving more', isAttemptRefusedByOs(reserve)],
  ],
  'memory-limit': ({ plan, hoard, hoardTarget, hoardEnd }) => [
    [
      'hoarding',
      hoardEnd === null ? Number(probeValueOf(hoard) ?? hoardTarget) < hoardTarget : diedOfMemory(hoardEnd, plan),
    ],
  ],
  'pids-limit': ({ counters }) => [['threads refused by the group', (counters?.refused ?? 0) > 0]],
  'cpu-limit': ({ counters }) => [['throttled by the group', (counters?.throttled ?? 0) > 0]],
};

/**
 * Whether a child ended at its memory limit: killed by its control group, or aborted by V8 where the address space
 * limit refused an allocation.
 */
const diedOfMemory = (end: ChildProcessExit, { limits }: ChildLaunchPlan): boolean =>
  end.isOutOfMemory || (limits?.addresses ?? null) !== null;

/** True where the child has the intended variables only. bubblewrap also sets PWD. */
function isCleanEnvironment(environment: unknown): boolean {
  if (typeof environment !== 'object' || environment === null) return false;
  return Object.entries({ ...environment }).every(
    ([name, value]) => value === { ...CHILD_ENVIRONMENT, PWD: '/' }[name],
  );
}

const sharesNoFile = (descriptors: unknown, own: readonly string[]): boolean =>
  Array.isArray(descriptors) && !descriptors.some(({ file }) => own.includes(file));

const HOST_FOLDERS = ['boot', 'dev', 'etc', 'home', 'proc', 'root', 'run', 'srv', 'sys', 'tmp', 'var'];
/** True where a child's root folder holds the program and, of the machine, the folders of libraries only. */
const isOwnRoot = (root: unknown): boolean =>
  Array.isArray(root) && root.includes('runner.cjs') && !HOST_FOLDERS.some((name) => root.includes(name));

const getError = (answer: ProbeAnswer): string | null => ('error' in answer ? answer.error : null);
const parseUids = (status: Readonly<Record<string, string>>): readonly number[] =>
  (status.Uid ?? '').split(/\s+/).filter(Boolean).map(Number);
/** The number of process namespaces a process is in. */
const countPidNamespaces = ({ NSpid = '' }: Readonly<Record<string, string>>): number =>
  NSpid.split(/\s+/).filter(Boolean).length;
