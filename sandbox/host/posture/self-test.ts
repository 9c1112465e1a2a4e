import type { ChildEnd } from '../child.ts';
import { addressHeadroom, type LaunchPlan, MAX_OPEN_FILES } from '../launch/launch-plan.ts';
import { findGuestPid, readLimits } from '../launch/proc.ts';
import { type StartedChild, startProgram } from '../launch/start.ts';
import type { Canary } from './canary.ts';
import type { ProbeFindings } from './checks.ts';
import type { MachineCapabilities } from './launch-plans.ts';
import { createProbeClient, ENDED, type ProbeClient } from './probe-client.ts';
import { pathInChild, probeIsolate, runProbe } from './run-probe.ts';

export interface SelfTestPrograms {
  /** Paths of the two programs in the private folder. */
  readonly probe: string;
  readonly runner: string;
}

/** What was seen; or where a child does not even start under the plan, its last words. */
export type SelfTestResult =
  | { readonly plan: LaunchPlan; readonly findings: ProbeFindings }
  | { readonly error: string };

const MIB = 1024 * 1024;

/**
 * Tries a plan out with real children: first one without a limit of addresses, which is attacked by the hostile program
 * and tells how many addresses a healthy child has; then, under the final plan and at once, one for the limits, one
 * that hoards memory, and the runner itself.
 */
export async function selfTest(
  machine: MachineCapabilities,
  plan: LaunchPlan,
  programs: SelfTestPrograms,
  canary: Canary,
): Promise<SelfTestResult> {
  const first = await runProbe(machine, plan, programs.probe, canary);
  if (typeof first === 'string') return { error: first };
  const { peak, ...seen } = first;
  const final = withAddressLimit(plan, peak, machine.memory);
  const target = 1.25 * Math.max(plan.memory, addressHeadroom(machine.memory)) + 32 * MIB;
  const [limited, hoarded, runner] = await Promise.all([
    testLimits(machine, final, programs),
    testMemoryLimit(machine, final, programs, target),
    canStartRunner(machine, final, programs),
  ]);
  const { isolate, ...rest } = limited;
  return {
    plan: final,
    findings: {
      ...{ plan: final, ...seen, ...rest, ...hoarded, runner, hoardTarget: target },
      isTouched: canary.isTouched(),
      isolates: [first.isolate, isolate],
    },
  };
}

const withAddressLimit = (plan: LaunchPlan, peak: number, memory: number): LaunchPlan =>
  plan.limits === null || peak === 0
    ? plan
    : { ...plan, limits: { ...plan.limits, addresses: peak + addressHeadroom(memory) } };

async function testLimits(machine: MachineCapabilities, plan: LaunchPlan, { probe }: SelfTestPrograms) {
  const child = startProgram(machine.resources, plan, probe);
  const client = createProbeClient(child);
  const none = { isolate: ENDED, open: ENDED, reserve: ENDED, limits: {}, counters: null };
  try {
    if (!(await client.ready)) return none;
    const limits = await readLimits(findGuestPid(child.pid));
    const isolate = await probeIsolate(machine, plan, client);
    const open = await client.ask('open', { path: pathInChild(plan, probe, '/runner.cjs'), count: MAX_OPEN_FILES });
    const reserve = await client.ask('reserve', { bytes: plan.limits?.addresses ?? 2 ** 42 });
    await provokeThrottling(child, client);
    // One more than it has, and it asks for three.
    child.group?.limitTasks(child.group.tasks() + 1);
    await client.ask('threads', { count: 3 });
    return { isolate, open, reserve, limits, counters: child.group?.counters() ?? null };
  } finally {
    child.kill();
    await child.ended;
  }
}

/**
 * Two milliseconds of every hundred: so little that it is felt even where a busy machine leaves a nice process hardly
 * more.
 */
async function provokeThrottling({ group }: StartedChild, { ask }: ProbeClient): Promise<void> {
  if (group === null) return;
  for (let count = 0; count < 4 && group.counters().throttled === 0; count += 1) {
    // Each time: the end of the head start sets the usual share.
    group.throttle(0.02);
    await ask('spin', { ms: 300, cpu: 6 });
  }
  group.throttle(1);
}

async function testMemoryLimit(
  machine: MachineCapabilities,
  plan: LaunchPlan,
  { probe }: SelfTestPrograms,
  bytes: number,
) {
  // Where nothing would stop it, the machine is not made to find out.
  if (plan.cgroups === null && plan.limits?.addresses == null) return { hoard: { value: bytes }, hoardEnd: null };
  const child = startProgram(machine.resources, plan, probe);
  const client = createProbeClient(child);
  const isReady = await client.ready;
  if (isReady) await probeIsolate(machine, plan, client, true);
  const answer = isReady ? await client.ask('hoard', { bytes }) : { value: bytes };
  const hasEnded = answer === ENDED;
  child.kill();
  const end: ChildEnd = await child.ended;
  return { hoard: answer, hoardEnd: hasEnded ? end : null };
}

/** Its first message says that it is up. */
async function canStartRunner(
  machine: MachineCapabilities,
  plan: LaunchPlan,
  { runner }: SelfTestPrograms,
): Promise<boolean> {
  const child = startProgram(machine.resources, plan, runner);
  const hello = new Promise<boolean>((resolve) => {
    child.channel.once('data', (bytes: Buffer) => resolve(bytes.includes('"hello"')));
    setTimeout(resolve, 10_000, false).unref();
  });
  const answer = await Promise.race([hello, child.ended.then(() => false)]);
  child.kill();
  await child.ended;
  return answer;
}
