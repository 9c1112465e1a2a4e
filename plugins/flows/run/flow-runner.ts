import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Caller, isSystem, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import { type FollowRun, isFollowed, statusOf } from '../runs/follow-run.ts';
import type { KeptTriggers } from '../runs/kept-trigger.ts';
import type { RecordRun, RunToRecord } from '../runs/record-run.ts';
import type { RunStatus } from '../runs/run-statuses.ts';
import type { RunChain, RunOutcome } from './run-chain.ts';
import { currentTrial } from './trial.ts';

/** What starts a run. */
export interface RunRequest {
  readonly trigger: unknown;
  /** The caller for whom the flow runs; null for none. */
  readonly caller: Caller | null;
  /** Equal where the same run is started again; by default a new one. */
  readonly id?: string;
  readonly signal?: AbortSignal | undefined;
  /** The run belongs to a write that its failure cancels. */
  readonly isPartOfWrite?: boolean;
}

/** A run that has ended, for good or in this process. */
export interface RunResult extends RunOutcome {
  /** `waiting`: the service stops, or the time of the job is over, and the job has to run again. */
  readonly runStatus: RunStatus;
}

export interface FlowRunner {
  /** Runs a flow and records the run. Failures of operations are part of the outcome. */
  run(plan: FlowPlan, request: RunRequest): Promise<RunResult>;
}

interface Deps {
  readonly chain: RunChain;
  readonly followRun: FollowRun;
  readonly recordRun: RecordRun;
  readonly countRun: (plan: FlowPlan, outcome: RunOutcome) => void;
  readonly keptTriggers: Pick<KeptTriggers, 'seal'>;
  readonly db: Pick<Db, 'isInUnitOfWork'>;
  /** Who acts in the history where a flow runs for no caller. */
  readonly systemCaller: () => Caller;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly maxNesting: number;
}

/** The run that the running code belongs to. */
interface CurrentRun {
  /** The flows that led to it, by name: one flow calls another, or writes what another listens to. */
  readonly path: readonly string[];
  readonly signal: AbortSignal | undefined;
}

const currentRun = new AsyncLocalStorage<CurrentRun>();

/** The name of the flow that the running code belongs to. */
export const currentFlowName = (): string | undefined => currentRun.getStore()?.path.at(-1);

export function createFlowRunner(deps: Deps): FlowRunner {
  const { chain, followRun, recordRun, countRun, keptTriggers, db, systemCaller, env, log, maxNesting } = deps;
  // A record of a run whose write is rolled back must not be rolled back with it.
  const outside = AsyncLocalStorage.snapshot();

  async function record(run: Omit<RunToRecord, 'actor'>, { caller, isPartOfWrite = false }: RunRequest): Promise<void> {
    if (run.plan.accountability === null) return;
    const actor = caller ?? currentRun.run({ path: [run.plan.name], signal: undefined }, systemCaller);
    const write = () => recordRun({ ...run, actor });
    if (isPartOfWrite && run.outcome.status === 'reject') void outside(write);
    else if (isPartOfWrite || !db.isInUnitOfWork()) await write();
    else await outside(write);
  }

  return {
    async run(plan, request) {
      const { trigger, caller, id = randomUUID() } = request;
      const outer = currentRun.getStore();
      // A flow that another one calls ends with it.
      const signal = request.signal ?? (plan.trigger === 'operation' ? outer?.signal : undefined);
      const path = [...(outer?.path ?? []), plan.name];
      if (path.length > maxNesting)
        throw new Error(`flows call each other without an end: ${path.slice(-4).join(' → ')}`);
      const input = { id, trigger, caller, accountability: toAccountability(caller), env };
      const work = (one: AbortSignal | undefined) =>
        currentRun.run({ path, signal: one }, () => chain(plan, { ...input, signal: one }));
      const isTrial = currentTrial() !== undefined;
      const isSeen = !isTrial && isFollowed(plan, request);
      const started = new Date();
      const followed = isSeen ? await followRun(id, plan, request, work) : undefined;
      const outcome = followed?.outcome ?? (await work(signal));
      const status = followed?.status ?? statusOf(request, outcome);
      if (status !== 'resolve')
        log.debug({ flow: plan.id, run: id, step: outcome.steps.at(-1)?.key, status }, 'a flow was not successful');
      const result = Object.assign(outcome, { runStatus: status });
      if (isTrial || status === 'waiting') return result;
      if (status !== 'cancelled') countRun(plan, outcome);
      const kept = isSeen ? undefined : keptTriggers.seal(plan, request);
      await record({ id, plan, outcome, status, started, isFollowed: isSeen, kept }, request);
      return result;
    },
  };
}

/** `$accountability`: a new object for each run, null where no user's permissions apply. */
function toAccountability(caller: Caller | null): Readonly<Record<string, unknown>> | null {
  if (!caller || isSystem(caller)) return null;
  const { user, role, admin, app, share, ip = null, userAgent = null, origin = null } = caller;
  return { user, role, admin, app, ip, userAgent, origin, ...(share ? { share } : {}) };
}
