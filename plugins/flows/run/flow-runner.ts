import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Caller, isSystem, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import { type FollowRun, isFollowed } from '../runs/follow-run.ts';
import type { KeptTriggers } from '../runs/kept-trigger.ts';
import type { RecordRun, RunToRecord } from '../runs/record-run.ts';
import type { RunStatus } from '../runs/run-statuses.ts';
import type { RunState } from '../state/run-state.ts';
import { RunSecrets } from './redaction.ts';
import type { RunChain, RunOutcome } from './run-chain.ts';
import type { WaitAccount } from './run-waits.ts';
import { currentTrial } from './trial.ts';

/** What starts a run. */
export interface RunRequest {
  readonly trigger: unknown;
  /** The caller for whom the flow runs; null for none. */
  readonly caller: Caller | null;
  /** Equal where the same run is started again; by default a new one. */
  readonly id?: string;
  readonly signal?: AbortSignal | undefined;
  /** A job runs it, whose id it has: it is run again where it does not end. */
  readonly isJob?: boolean;
  /** Where the run is stored between its operations, so that another process can go on with it. */
  readonly state?: RunState | undefined;
  /** What the run that starts this one has waited. */
  readonly waits?: WaitAccount;
  /** `pathTo` of the run that a job goes on with; by default that of the running code. */
  readonly path?: readonly string[] | undefined;
  /** The run belongs to a write that its failure cancels. */
  readonly isPartOfWrite?: boolean;
}

/** A run that has ended. */
export interface RunResult {
  readonly outcome: RunOutcome;
  readonly runStatus: RunStatus;
}

export interface FlowRunner {
  /**
   * Runs a flow and records the run. Failures of operations are part of the outcome.
   * @throws RunBreak where a run with a state goes on elsewhere
   */
  run(plan: FlowPlan, request: RunRequest): Promise<RunOutcome>;
  /** The same, with the status under which the run is stored. @throws RunBreak */
  runToStatus(plan: FlowPlan, request: RunRequest): Promise<RunResult>;
  /**
   * The names of the flows that lead from one another to this one in the running code.
   * @throws Error where there are more than FLOWS_MAX_NESTING
   */
  pathTo(plan: FlowPlan): readonly string[];
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

/** The run that the running code belongs to: one flow calls another, or writes what another listens to. */
interface CurrentRun {
  /** The flows that led to it, by name. */
  readonly path: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** A flow may hand secrets of its run to another one in any text, so all of them know the same ones. */
  readonly secrets: RunSecrets;
}

const currentRun = new AsyncLocalStorage<CurrentRun>();

/** The name of the flow that the running code belongs to. */
export const currentFlowName = (): string | undefined => currentRun.getStore()?.path.at(-1);

export function createFlowRunner(deps: Deps): FlowRunner {
  const { chain, followRun, recordRun, countRun, keptTriggers, db, systemCaller, env, log, maxNesting } = deps;
  // A record of a run whose write is rolled back must not be rolled back with it.
  const outside = AsyncLocalStorage.snapshot();

  async function record(
    run: Omit<RunToRecord, 'actor'>,
    { caller, state, isPartOfWrite = false }: RunRequest,
  ): Promise<void> {
    const { plan, outcome } = run;
    if (plan.accountability === null || state?.isRecorded()) return;
    const around = { path: [plan.name], signal: undefined, secrets: outcome.secrets };
    const actor = caller ?? currentRun.run(around, systemCaller);
    const write = () => recordRun({ ...run, actor });
    if (isPartOfWrite && outcome.status === 'reject') void outside(write);
    else if (isPartOfWrite || !db.isInUnitOfWork()) await write();
    else await outside(write);
    await state?.setRecorded();
  }

  function pathTo({ name }: FlowPlan): readonly string[] {
    const path = [...(currentRun.getStore()?.path ?? []), name];
    if (path.length > maxNesting)
      throw new Error(`flows call each other without an end: ${path.slice(-4).join(' → ')}`);
    return path;
  }

  async function runToStatus(plan: FlowPlan, request: RunRequest): Promise<RunResult> {
    const { trigger, caller, state, id = randomUUID(), waits = { waited: 0 } } = request;
    const outer = currentRun.getStore();
    // A flow that another one calls ends with it.
    const signal = request.signal ?? (plan.trigger === 'operation' ? outer?.signal : undefined);
    const path = request.path ?? pathTo(plan);
    const secrets = outer?.secrets ?? new RunSecrets();
    const input = { id, trigger, caller, accountability: toAccountability(caller), env, secrets, state, waits };
    const work = (one: AbortSignal | undefined) =>
      currentRun.run({ path, signal: one, secrets }, () => chain(plan, { ...input, signal: one }));
    const isTrial = currentTrial() !== undefined;
    const isSeen = !isTrial && isFollowed(plan, request);
    const started = new Date(state?.step(0)?.started ?? Date.now());
    const followed = isSeen ? await followRun(id, plan, request, work) : undefined;
    const outcome = followed?.outcome ?? (await work(signal));
    const runStatus = followed?.status ?? outcome.status;
    if (runStatus !== 'resolve')
      log.debug({ flow: plan.id, run: id, step: outcome.lastStep, status: runStatus }, 'a flow was not successful');
    if (isTrial) return { outcome, runStatus };
    if (runStatus !== 'cancelled' && !state?.isRecorded()) countRun(plan, outcome);
    const kept = isSeen ? undefined : keptTriggers.seal(plan, request);
    await record({ id, plan, outcome, status: runStatus, started, isFollowed: isSeen, kept }, request);
    return { outcome, runStatus };
  }

  return {
    pathTo,
    runToStatus,
    run: async (plan, request) => (await runToStatus(plan, request)).outcome,
  };
}

/** `$accountability`: a new object for each run, null where no user's permissions apply. */
function toAccountability(caller: Caller | null): Readonly<Record<string, unknown>> | null {
  if (!caller || isSystem(caller)) return null;
  const { user, role, admin, app, share, ip = null, userAgent = null, origin = null } = caller;
  return { user, role, admin, app, ip, userAgent, origin, ...(share ? { share } : {}) };
}
