import { setTimeout as pause } from 'node:timers/promises';
import type { EventsApi, Log } from '#kernel';
import type { JobScheduler, ScheduledJobHandle } from '../../schedule/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import { deriveRunId } from '../run/run-id.ts';
import type { AsyncRuns } from './async-runs.ts';
import type { BackgroundRuns } from './background-runs.ts';

interface Deps {
  readonly events: Pick<EventsApi, 'onAction'>;
  readonly schedule: JobScheduler;
  readonly plans: FlowPlans;
  readonly backgroundRuns: Pick<BackgroundRuns, 'runTick'>;
  readonly asyncRuns: Pick<AsyncRuns, 'hasUnfinished'>;
  readonly log: Log;
}

/** A started schedule, with what it was started by: a change of anything else leaves it alone. */
interface StartedSchedule {
  readonly text: string;
  readonly job: ScheduledJobHandle;
}

/** Milliseconds between two looks at the run that a tick in a queue waits for. */
const LOOK_INTERVAL = 250;

const OVERLAPS = ['skip', 'allow', 'queue'] as const;
const MISSED = ['skip', 'once', 'all'] as const;

/**
 * Runs flows with the trigger `schedule`, each nominal time in one process of all. Options: `cron` (five positions, or six with seconds
 * first), `overlap` (`skip`, the default, `allow` or `queue`) and `missed` (`skip`, the default, `once` or `all`). Schedules start with
 * the server: a command of the command line runs no ticks.
 */
export function startScheduleTriggers({ events, schedule, plans, backgroundRuns, asyncRuns, log }: Deps): {
  stop(): Promise<void>;
} {
  const started = new Map<string, StartedSchedule>();
  let isServing = false;
  let isStopped = false;
  /** Ticks were missed while no process was up, not while a flow was inactive or had another schedule. */
  let missedSince: 'last' | 'now' = 'last';
  let changing: Promise<unknown> = Promise.resolve();

  async function runTick(id: string, at: Date, signal: AbortSignal): Promise<void> {
    const plan = (await plans.current()).get(id);
    if (plan?.trigger !== 'schedule') return;
    const { overlap } = plan.options;
    // A run that sleeps is a job, of which the schedule does not know.
    if (overlap === 'queue') await untilEnded(plan, signal);
    else if (overlap !== 'allow' && (await asyncRuns.hasUnfinished(plan))) return;
    const outcome = await backgroundRuns.runTick(plan, deriveRunId('schedule', id, at.toISOString()), signal);
    if (outcome?.status === 'reject')
      log.warn(
        { flow: id, step: outcome.lastStep, reason: outcome.secrets.redact(outcome.data.$last) },
        'a scheduled flow failed',
      );
  }

  async function untilEnded(plan: FlowPlan, signal: AbortSignal): Promise<void> {
    while (await asyncRuns.hasUnfinished(plan)) await pause(LOOK_INTERVAL, undefined, { signal });
  }

  function start({ id, options }: FlowPlan, text: string): void {
    const { cron, overlap, missed } = options;
    if (typeof cron !== 'string' || !schedule.isPattern(cron)) {
      log.warn({ flow: id, cron }, 'a flow is not scheduled: its cron expression cannot be read');
      return;
    }
    const job = schedule.start({
      name: `flow ${id}`,
      at: cron,
      overlap: OVERLAPS.find((one) => one === overlap) ?? 'skip',
      missed: MISSED.find((one) => one === missed) ?? 'skip',
      missedSince,
      log,
      run: ({ at, signal }) => runTick(id, at, signal),
    });
    started.set(id, { text, job });
  }

  async function apply(current: ReadonlyMap<string, FlowPlan>): Promise<void> {
    const expected = new Map(
      [...current.values()].flatMap((plan) =>
        plan.trigger === 'schedule' ? [[plan.id, { plan, text: JSON.stringify(plan.options) }]] : [],
      ),
    );
    for (const [id, { text, job }] of [...started]) {
      if (expected.get(id)?.text === text) continue;
      started.delete(id);
      await job.stop();
    }
    for (const [id, { plan, text }] of expected) if (!isStopped && !started.has(id)) start(plan, text);
    missedSince = 'now';
  }

  function applyInTurn(current: ReadonlyMap<string, FlowPlan>): void {
    changing = changing
      .then(() => apply(current))
      .catch((error) => log.error({ err: error }, 'flows could not be scheduled'));
  }
  plans.onChange((current) => {
    if (current && isServing) applyInTurn(current);
  });
  events.onAction('server.start', async () => {
    isServing = true;
    applyInTurn(await plans.current());
  });
  return {
    async stop() {
      isStopped = true;
      await changing;
      await Promise.all([...started.values()].map(({ job }) => job.stop()));
    },
  };
}
