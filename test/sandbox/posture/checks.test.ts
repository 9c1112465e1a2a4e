import { expect } from 'chai';
import { CONFINEMENT_LAYER_CHECKS, type ProbeFindings } from '../../../sandbox/host/posture/checks.ts';
import { CONFINEMENT_LAYERS, type ConfinementLayer } from '../../../sandbox/host/posture/confinement-layers.ts';
import { PROBE_ENDED_ANSWER, type ProbeAnswer } from '../../../sandbox/host/posture/probe-client.ts';

const no = (error = 'EPERM'): ProbeAnswer => ({ error });
const yes = (value: unknown = true): ProbeAnswer => ({ value });

/** Findings of the probe in a fully confined child. */
const WHOLE: ProbeFindings = {
  plan: {
    ...{ namespaceMode: 'root', seccomp: true, uids: null, cgroups: null, memory: 1 },
    limits: { addresses: 1_000, tasks: 32 },
  },
  service: { NSpid: '100' },
  status: {
    ...{ NoNewPrivs: '1', Uid: '7\t7\t7\t7', CapEff: '0000', CapPrm: '0000', NSpid: '101\t2', Seccomp: '2' },
  },
  limits: {
    ...{ 'core file size': 0, 'file size': 0, 'open files': 64, processes: 32, 'address space': 1_000 },
  },
  environment: yes({ PWD: '/', MALLOC_ARENA_MAX: '1' }),
  descriptors: yes([{ fd: 3, file: '1:1' }]),
  serviceFiles: ['1:2'],
  root: yes(['lib', 'node', 'runner.cjs']),
  reads: [no('ENOENT')],
  writes: [no('EROFS')],
  connects: [no(), no('ENETUNREACH')],
  listen: no(),
  fork: no(),
  shell: no('ENOENT'),
  signal: no('ESRCH'),
  setuid: no(),
  isTouched: false,
  isolates: [yes('[42]'), yes('[42]')],
  runner: true,
  open: yes(45),
  reserve: no('ENOMEM'),
  hoard: PROBE_ENDED_ANSWER,
  hoardTarget: 500,
  hoardEnd: { code: null, signal: 'SIGKILL', isOutOfMemory: true },
  counters: { outOfMemory: 0, refused: 1, throttled: 1 },
};

const missingFor = (change: Partial<ProbeFindings>) =>
  CONFINEMENT_LAYERS.filter((layer) =>
    CONFINEMENT_LAYER_CHECKS[layer]({ ...WHOLE, ...change }).some(([, holds]) => !holds),
  );
const status = (change: Readonly<Record<string, string>>): Partial<ProbeFindings> => ({
  status: { ...WHOLE.status, ...change },
});
const limits = (change: Readonly<Record<string, number>>): Partial<ProbeFindings> => ({
  limits: { ...WHOLE.limits, ...change },
});

/** Changes of these findings, each with the layers that then fail. */
const CASES: readonly (readonly [
  what: string,
  change: Partial<ProbeFindings>,
  ...layers: readonly ConfinementLayer[],
])[] = [
  ['no isolate', { isolates: [yes('[42]'), PROBE_ENDED_ANSWER] }, 'isolate'],
  ['another result', { isolates: [yes('[41]')] }, 'isolate'],
  ['no isolate tried', { isolates: [] }, 'isolate'],
  ['a runner that does not start', { runner: false }, 'isolate'],
  ['a variable that should be another', { environment: yes({ PWD: '/', MALLOC_ARENA_MAX: '2' }) }, 'process'],
  ['a variable', { environment: yes({ PWD: '/', SECRET: 'x' }) }, 'process'],
  ['no answer about variables', { environment: PROBE_ENDED_ANSWER }, 'process'],
  ['an inherited file', { descriptors: yes([{ fd: 9, file: '1:2' }]) }, 'process'],
  ['no promise', status({ NoNewPrivs: '0' }), 'no-new-privileges'],
  [
    'a status that cannot be read',
    { status: {} },
    'no-new-privileges',
    'unprivileged-user',
    'process-namespace',
    'seccomp',
  ],
  ['root', status({ Uid: '0\t0\t0\t0' }), 'unprivileged-user'],
  ['a saved root', status({ Uid: '7\t7\t0\t7' }), 'unprivileged-user'],
  ['a capability', status({ CapEff: '0080' }), 'unprivileged-user'],
  ['becoming root', { setuid: yes() }, 'unprivileged-user'],
  ['a file read', { reads: [no(), yes('text')] }, 'filesystem'],
  ['a file written', { writes: [yes()] }, 'filesystem'],
  ['a writer that died', { writes: [PROBE_ENDED_ANSWER] }, 'filesystem'],
  ['a mistake in the attempt', { reads: [no('ERR_INVALID_ARG_TYPE')] }, 'filesystem'],
  ["the machine's root", { root: yes(['etc', 'node', 'runner.cjs']) }, 'filesystem'],
  ['a connection', { connects: [no(), yes()] }, 'network'],
  ['something that arrived', { isTouched: true }, 'filesystem', 'network'],
  ['a timeout', { connects: [no('NO_ANSWER')] }, 'network'],
  ['the same process namespace', status({ NSpid: '101' }), 'process-namespace'],
  ['a signal', { signal: yes() }, 'process-namespace'],
  ['no filter', status({ Seccomp: '0' }), 'seccomp'],
  ['a process started', { fork: yes(0) }, 'seccomp'],
  ['a process refused for lack of resources', { fork: no('EAGAIN') }, 'seccomp'],
  ['a socket', { listen: yes() }, 'seccomp'],
  ['core files', limits({ 'core file size': Infinity }), 'rlimits'],
  ['many open files', { open: yes(64) }, 'rlimits'],
  ['addresses without end', limits({ 'address space': Infinity }), 'rlimits'],
  ['addresses reserved', { reserve: yes(1) }, 'rlimits'],
  ['memory', { hoard: yes(500), hoardEnd: null }, 'memory-limit'],
  [
    'an end of another kind',
    { hoardEnd: { code: 1, signal: null, isOutOfMemory: false }, plan: { ...WHOLE.plan, limits: null } },
    'rlimits',
    'memory-limit',
  ],
  ['no groups', { counters: null }, 'pids-limit', 'cpu-limit'],
  ['groups that do nothing', { counters: { outOfMemory: 0, refused: 0, throttled: 0 } }, 'pids-limit', 'cpu-limit'],
];

describe('LAYER_CHECKS', () => {
  it('a fully confined child passes every layer', () => {
    expect(missingFor({})).to.deep.equal([]);
  });

  it('memory-limit holds where memory is refused and where the process is killed', () => {
    expect(missingFor({ hoard: yes(400), hoardEnd: null })).to.deep.equal([]);
  });

  for (const [what, change, ...layers] of CASES) {
    it(`layers ${layers.join(', ')} fail: ${what}`, () => {
      expect(missingFor(change)).to.deep.equal(layers);
    });
  }
});
