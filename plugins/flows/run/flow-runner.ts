import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Caller, isSystem, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunState } from '../state/run-state.ts';
import { recordRun } from './record-run.ts';
import type { RunChain, RunOutcome } from './run-chain.ts';
import type { RunLog } from './run-log.ts';
import type { WaitAccount } from './run-waits.ts';
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
  /** Where the run is stored between its operations, so that another process can go on with it. */
  readonly state?: RunState | undefined;
  /** What the run that starts this one has waited. */
  readonly waits?: WaitAccount;
  /** `pathTo` of the run that a job goes on with; by default that of the running code. */
  readonly path?: readonly string[] | undefined;
  /** The run belongs to a write that its failure cancels. */
  readonly isPartOfWrite?: boolean;
}

/** A run that has ended, for good or in this process. */
export interface RunResult extends RunOutcome {
  /** `waiting`: the service stops, or the time of the job is over, and the job has to run again. */
  readonly runStatus: RunStatus;
}

export interface FlowRunner {
  /**
   * Runs a flow and records the run. Failures of operations are part of the outcome.
   * @throws RunBreak where a run with a state goes on elsewhere
   */
  run(plan: FlowPlan, request: RunRequest): Promise<RunOutcome>;
  /**
   * The names of the flows that lead from one another to this one in the running code.
   * @throws Error where there are more than FLOWS_MAX_NESTING
   */
  pathTo(plan: FlowPlan): readonly string[];
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

  function pathTo({ name }: FlowPlan): readonly string[] {
    const path = [...(nesting.getStore() ?? []), name];
    if (path.length > maxNesting)
      throw new Error(`flows call each other without an end: ${path.slice(-4).join(' → ')}`);
    return path;
  }

  return {
    pathTo,
    async run(
      plan,
      { trigger, caller, id = randomUUID(), signal, state, waits = { waited: 0 }, path: from, isPartOfWrite = false },
    ) {
      const path = from ?? pathTo(plan);
      const input = { id, trigger, caller, accountability: toAccountability(caller), env, signal, state, waits };
      const started = new Date(state?.step(0)?.started ?? Date.now());
      const outcome = await nesting.run(path, () => chain(plan, input));
      if (outcome.status !== 'resolve')
        log.debug(
          { flow: plan.id, run: id, step: outcome.steps.at(-1)?.key, status: outcome.status },
          'a flow was not successful',
        );
      if (currentTrial() || state?.isRecorded()) return outcome;
      const record = () => keep(id, plan, outcome, caller, started);
      if (isPartOfWrite && outcome.status === 'reject') void outside(record);
      else if (isPartOfWrite || !db.isInUnitOfWork()) await record();
      else await outside(record);
      await state?.setRecorded();
      return outcome;
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
      const result = { ...outcome, runStatus: status };
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
