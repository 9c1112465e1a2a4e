import type { ChildProcessExit } from '../confined-child.ts';
import { eventLoopTurn } from '../event-loop-turn.ts';
import { type ChildLaunchPlan, computeAddressSpaceHeadroom, MAX_OPEN_FILES } from '../launch/launch-plan.ts';
import { findGuestPid, readProcLimits } from '../launch/proc.ts';
import { type StartedChild, startProgramUnderLaunchPlan } from '../launch/start.ts';
import type { ProbeFindings } from './checks.ts';
import type { ConfinementCanary } from './confinement-canary.ts';
import type { MachineCapabilities } from './launch-plans.ts';
import { createProbeClient, PROBE_ENDED_ANSWER, type ProbeClient } from './probe-client.ts';
import { pathInChild, probeIsolate, runProbe } from './run-probe.ts';

export interface SelfTestPrograms {
  /** Path of the probe program in the private folder. */
  readonly probe: string;
  readonly runner: string;
}

/** The findings, or the last line of stderr where a child does not start under the plan. */
export type SelfTestResult =
  | { readonly plan: ChildLaunchPlan; readonly findings: ProbeFindings }
  | { readonly error: string };

const MIB = 1024 * 1024;

/**
 * Tests a plan with real children. The first one runs the probe program without a limit of address space, which also
 * measures the address space of a healthy child. Then three children run concurrently under the final plan: one for
 * limits, one that allocates memory, and the runner itself.
 */
export async function selfTestLaunchPlan(
  machine: MachineCapabilities,
  plan: ChildLaunchPlan,
  programs: SelfTestPrograms,
  canary: ConfinementCanary,
): Promise<SelfTestResult> {
  const first = await runProbe(machine, plan, programs.probe, canary);
  if (typeof first === 'string') return { error: first };
  const { peak, ...seen } = first;
  const final = withAddressLimit(plan, peak, machine.memory);
  const target = 1.25 * Math.max(plan.memory, computeAddressSpaceHeadroom(machine.memory)) + 32 * MIB;
  await eventLoopTurn();
  const [limited, hoarded, runner] = await Promise.all([
    testLimits(machine, final, programs),
    afterTurns(1, () => testMemoryLimit(machine, final, programs, target)),
    afterTurns(2, () => canStartRunner(machine, final, programs)),
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

/** Starts of processes take a while each: the event loop turns in between. */
async function afterTurns<T>(turns: number, work: () => Promise<T>): Promise<T> {
  for (let left = turns; left > 0; left--) await eventLoopTurn();
  return work();
}

const withAddressLimit = (plan: ChildLaunchPlan, peak: number, memory: number): ChildLaunchPlan =>
  plan.limits === null || peak === 0
    ? plan
    : { ...plan, limits: { ...plan.limits, addresses: peak + computeAddressSpaceHeadroom(memory) } };

async function testLimits(machine: MachineCapabilities, plan: ChildLaunchPlan, { probe }: SelfTestPrograms) {
  const child = startProgramUnderLaunchPlan(machine.resources, plan, probe);
  const client = createProbeClient(child);
  const none = {
    isolate: PROBE_ENDED_ANSWER,
    open: PROBE_ENDED_ANSWER,
    reserve: PROBE_ENDED_ANSWER,
    limits: {},
    counters: null,
  };
  try {
    if (!(await client.ready)) return none;
    const limits = await readProcLimits(findGuestPid(child.pid));
    const isolate = await probeIsolate(machine, plan, client);
    const open = await client.ask('open', { path: pathInChild(plan, probe, '/runner.cjs'), count: MAX_OPEN_FILES });
    const reserve = await client.ask('reserve', { bytes: plan.limits?.addresses ?? 2 ** 42 });
    await provokeThrottling(child, client);
    // The group may have one more task than now, and the child starts three.
    child.group?.limitTasks(child.group.tasks() + 1);
    await client.ask('threads', { count: 3 });
    return { isolate, open, reserve, limits, counters: child.group?.counters() ?? null };
  } finally {
    child.kill();
    await child.ended;
  }
}

/** Limits the child to 2 ms of every 100 ms, so that it is throttled even on a busy machine. */
async function provokeThrottling({ group }: StartedChild, { ask }: ProbeClient): Promise<void> {
  if (group === null) return;
  for (let count = 0; count < 4 && group.counters().throttled === 0; count += 1) {
    // Repeated, since the end of `UNTHROTTLED_START_MS` sets the default share.
    group.throttle(0.02);
    await ask('spin', { ms: 300, cpu: 6 });
  }
  group.throttle(1);
}

async function testMemoryLimit(
  machine: MachineCapabilities,
  plan: ChildLaunchPlan,
  { probe }: SelfTestPrograms,
  bytes: number,
) {
  // Without any limit the attempt would only exhaust the memory of the machine.
  if (plan.cgroups === null && plan.limits?.addresses == null) return { hoard: { value: bytes }, hoardEnd: null };
  const child = startProgramUnderLaunchPlan(machine.resources, plan, probe);
  const client = createProbeClient(child);
  const isReady = await client.ready;
  if (isReady) await probeIsolate(machine, plan, client, true);
  const answer = isReady ? await client.ask('hoard', { bytes }) : { value: bytes };
  const hasEnded = answer === PROBE_ENDED_ANSWER;
  child.kill();
  const end: ChildProcessExit = await child.ended;
  return { hoard: answer, hoardEnd: hasEnded ? end : null };
}

/** True where the runner sends its hello within 10 seconds. */
async function canStartRunner(
  machine: MachineCapabilities,
  plan: ChildLaunchPlan,
  { runner }: SelfTestPrograms,
): Promise<boolean> {
  const child = startProgramUnderLaunchPlan(machine.resources, plan, runner);
  const hello = new Promise<boolean>((resolve) => {
    child.channel.once('data', (bytes: Buffer) => resolve(bytes.includes('"hello"')));
    setTimeout(resolve, 10_000, false).unref();
  });
  const answer = await Promise.race([hello, child.ended.then(() => false)]);
  child.kill();
  await child.ended;
  return answer;
}
