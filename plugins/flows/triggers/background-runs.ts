import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '#kernel';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowRunner, RunRequest } from '../run/flow-runner.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import { RunSuspension } from '../state/run-break.ts';
import type { RunStates, StoredRun } from '../state/run-states.ts';
import type { AddedRun, AsyncRuns } from './async-runs.ts';
import { type StoredCaller, toStoredCaller } from './stored-caller.ts';

interface Deps {
  readonly runner: FlowRunner;
  readonly states: Pick<RunStates, 'open' | 'create'>;
  readonly asyncRuns: Pick<AsyncRuns, 'add' | 'goOn'>;
  /** Called when a run is handed over to a job. Never rejects. */
  readonly onAdded: (id: string, plan: FlowPlan, run: AddedRun) => Promise<void>;
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
   * Runs a flow after an event. With `durable` among the options of the flow the run is a job from its beginning. The run of a shared link,
   * or of a role without a user, stays in this process.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  runAfterEvent(plan: FlowPlan, caller: Caller | null, trigger: unknown): Promise<void>;
  /** Resolves when the runs after events have ended, or have been handed over because the service stops; after five seconds at the latest. */
  waitForEnd(): Promise<void>;
}

/** Milliseconds. */
const STOP_LIMIT = 5000;

export function createBackgroundRuns({ runner, states, asyncRuns, onAdded }: Deps): BackgroundRuns {
  const running = new Set<Promise<void>>();

  /** Runs a flow, and stores the rest of the run for a job where it is suspended: undefined then. */
  async function runUntilSuspension(plan: FlowPlan, stored: StoredRun, request: RunRequest & { readonly id: string }) {
    const path = runner.pathTo(plan);
    try {
      return await runner.run(plan, { ...request, state: stored.state });
    } catch (error) {
      if (!(error instanceof RunSuspension)) throw error;
      const caller = toStoredCaller(request.caller) as StoredCaller;
      await stored.handOver(request.trigger, () => asyncRuns.goOn(plan, request.id, caller, path, error.until));
      await onAdded(request.id, plan, request);
      return undefined;
    }
  }

  async function runAfterEvent(plan: FlowPlan, caller: Caller | null, trigger: unknown): Promise<void> {
    const storedCaller = toStoredCaller(caller);
    if (!storedCaller) return void (await runner.run(plan, { trigger, caller }));
    if (plan.options.durable === true) return void (await asyncRuns.add(plan, { caller, trigger }));
    const id = randomUUID();
    await runUntilSuspension(plan, states.create(id, plan.id), { id, trigger, caller });
  }

  return {
    async runTick(plan, id, signal) {
      const stored = await states.open(id, plan.id);
      if (stored.isEnded || stored.hasJob) return undefined;
      const outcome = await runUntilSuspension(plan, stored, { id, trigger: null, caller: null, signal });
      if (outcome) await stored.end();
      return outcome;
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
