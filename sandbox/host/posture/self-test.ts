import type { ChildEnd } from '../child.ts';
import { addressRoom, OPEN_FILES, type Plan } from '../launch/plan.ts';
import { innermost, limitsOf } from '../launch/proc.ts';
import { type Started, startProgram } from '../launch/start.ts';
import { askIsolate, attack, pathOf } from './attack.ts';
import type { Bait } from './bait.ts';
import type { Findings } from './checks.ts';
import type { Means } from './plans.ts';
import { ENDED, type Talk, talkTo } from './talk.ts';

export interface Programs {
  /** Paths of the two programs in the private folder. */
  readonly probe: string;
  readonly runner: string;
}

/** What was seen; or where a child does not even start under the plan, its last words. */
export type Tested = { readonly plan: Plan; readonly findings: Findings } | { readonly complaint: string };

const MIB = 1024 * 1024;

/**
 * Tries a plan out with real children: first one without a limit of addresses, which is attacked by the hostile program
 * and tells how many addresses a healthy child has; then, under the final plan and at once, one for the limits, one
 * that hoards memory, and the runner itself.
 */
export async function selfTest(means: Means, plan: Plan, programs: Programs, bait: Bait): Promise<Tested> {
  const first = await attack(means, plan, programs.probe, bait);
  if (typeof first === 'string') return { complaint: first };
  const { peak, ...seen } = first;
  const final = withAddresses(plan, peak, means.memory);
  const target = 1.25 * Math.max(plan.memory, addressRoom(means.memory)) + 32 * MIB;
  const [limited, hoarded, runner] = await Promise.all([
    tryLimits(means, final, programs),
    hoard(means, final, programs, target),
    startsRunner(means, final, programs),
  ]);
  const { isolate, ...rest } = limited;
  return {
    plan: final,
    findings: {
      ...{ plan: final, ...seen, ...rest, ...hoarded, runner, hoardTarget: target },
      isTouched: bait.isTouched(),
      isolates: [first.isolate, isolate],
    },
  };
}

const withAddresses = (plan: Plan, peak: number, memory: number): Plan =>
  plan.limits === null || peak === 0
    ? plan
    : { ...plan, limits: { ...plan.limits, addresses: peak + addressRoom(memory) } };

async function tryLimits(means: Means, plan: Plan, { probe }: Programs) {
  const child = startProgram(means.bench, plan, probe);
  const talk = talkTo(child);
  const none = { isolate: ENDED, open: ENDED, reserve: ENDED, limits: {}, counters: null };
  try {
    if (!(await talk.ready)) return none;
    const limits = await limitsOf(innermost(child.pid));
    const isolate = await askIsolate(means, plan, talk);
    const open = await talk.ask('open', { path: pathOf(plan, probe, '/runner.cjs'), count: OPEN_FILES });
    const reserve = await talk.ask('reserve', { bytes: plan.limits?.addresses ?? 2 ** 42 });
    await feelThrottle(child, talk);
    // One more than it has, and it asks for three.
    child.group?.limitTasks(child.group.tasks() + 1);
    await talk.ask('threads', { count: 3 });
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
async function feelThrottle({ group }: Started, { ask }: Talk): Promise<void> {
  if (group === null) return;
  for (let count = 0; count < 4 && group.counters().throttled === 0; count += 1) {
    // Each time: the end of the head start sets the usual share.
    group.throttle(0.02);
    await ask('spin', { ms: 300, cpu: 6 });
  }
  group.throttle(1);
}

async function hoard(means: Means, plan: Plan, { probe }: Programs, bytes: number) {
  // Where nothing would stop it, the machine is not made to find out.
  if (plan.cgroups === null && plan.limits?.addresses == null) return { hoard: { value: bytes }, hoardEnd: null };
  const child = startProgram(means.bench, plan, probe);
  const talk = talkTo(child);
  const isReady = await talk.ready;
  if (isReady) await askIsolate(means, plan, talk, true);
  const answer = isReady ? await talk.ask('hoard', { bytes }) : { value: bytes };
  const ended = answer === ENDED;
  child.kill();
  const end: ChildEnd = await child.ended;
  return { hoard: answer, hoardEnd: ended ? end : null };
}

/** Its first message says that it is up. */
async function startsRunner(means: Means, plan: Plan, { runner }: Programs): Promise<boolean> {
  const child = startProgram(means.bench, plan, runner);
  const hello = new Promise<boolean>((resolve) => {
    child.channel.once('data', (bytes: Buffer) => resolve(bytes.includes('"hello"')));
    setTimeout(resolve, 10_000, false).unref();
  });
  const answer = await Promise.race([hello, child.ended.then(() => false)]);
  child.kill();
  await child.ended;
  return answer;
}
