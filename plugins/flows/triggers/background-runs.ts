import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '#kernel';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import { RunSuspension } from '../state/run-break.ts';
import type { RunStates, StoredRun } from '../state/run-states.ts';
import type { AsyncRuns } from './async-runs.ts';
import { type StoredCaller, toStoredCaller } from './stored-caller.ts';

interface Deps {
  readonly runner: FlowRunner;
  readonly states: Pick<RunStates, 'open' | 'create'>;
  readonly asyncRuns: Pick<AsyncRuns, 'add' | 'goOn'>;
}

/** Runs that no client and no write waits for. A long `sleep` hands them over to a job. */
export interface BackgroundRuns {
  /**
   * Runs a flow by its schedule, whose id is equal in each process that runs the same tick. Undefined where a job goes on with the run, and where it
   * has ended in a process that died before it said so.
   * @throws RunBreak
   */
  runTick(plan: FlowPlan, id: string, signal: AbortSignal): Promise<RunOutcome | undefined>;
  /**
   * Runs a flow after an event. With `durable` among the options of the flow the run is a job from its beginning.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  runAfterEvent(plan: FlowPlan, caller: Caller | null, trigger: unknown): Promise<void>;
  /** Resolves when the runs after events have ended, or have been handed over because the service stops; after five seconds at the latest. */
  waitForEnd(): Promise<void>;
}

/** Milliseconds. */
const STOP_LIMIT = 5000;

export function createBackgroundRuns({ runner, states, asyncRuns }: Deps): BackgroundRuns {
  const running = new Set<Promise<void>>();

  /** Stores the rest of a run for a job where it is suspended, and passes on any other failure. */
  async function handOver(
    error: unknown,
    plan: FlowPlan,
    id: string,
    stored: StoredRun,
    caller: StoredCaller,
    trigger: unknown,
  ): Promise<void> {
    if (!(error instanceof RunSuspension)) throw error;
    await stored.handOver(trigger, () => asyncRuns.goOn(plan, id, caller, error.until));
  }

  async function runAfterEvent(plan: FlowPlan, caller: Caller | null, trigger: unknown): Promise<void> {
    const storedCaller = toStoredCaller(caller);
    if (!storedCaller) return void (await runner.run(plan, { trigger, caller }));
    if (plan.options.durable === true) return asyncRuns.add(plan, storedCaller, trigger);
    const id = randomUUID();
    const stored = states.create(id, plan.id);
    await runner
      .run(plan, { id, trigger, caller, state: stored.state })
      .catch((error) => handOver(error, plan, id, stored, storedCaller, trigger));
  }

  return {
    async runTick(plan, id, signal) {
      const stored = await states.open(id, plan.id);
      if (stored.isEnded || stored.hasJob) return undefined;
      try {
        const outcome = await runner.run(plan, { id, trigger: null, caller: null, signal, state: stored.state });
        await stored.end();
        return outcome;
      } catch (error) {
        await handOver(error, plan, id, stored, toStoredCaller(null) as StoredCaller, null);
        return undefined;
      }
    },
    runAfterEvent(plan, caller, trigger) {
      const run = runAfterEvent(plan, caller, trigger).finally(() => running.delete(run));
      running.add(run);
      return run;
    },
    async waitForEnd() {
      await Promise.race([Promise.allSettled(running), pause(STOP_LIMIT, undefined, { ref: false })]);
    },
  };
}
