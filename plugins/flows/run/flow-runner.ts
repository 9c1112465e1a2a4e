import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Caller, isSystem, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import { type FollowRun, isFollowed } from '../runs/follow-run.ts';
import type { KeptTriggers } from '../runs/kept-trigger.ts';
import type { RecordRun, RunToRecord } from '../runs/record-run.ts';
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

export interface FlowRunner {
  /** Runs a flow and records the run. Failures of operations are part of the outcome. */
  run(plan: FlowPlan, request: RunRequest): Promise<RunOutcome>;
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

/** The flows that led to the running code, by name: one flow calls another, or writes what another listens to. */
const nesting = new AsyncLocalStorage<readonly string[]>();

/** The name of the flow that the running code belongs to. */
export const currentFlowName = (): string | undefined => nesting.getStore()?.at(-1);

export function createFlowRunner(deps: Deps): FlowRunner {
  const { chain, followRun, recordRun, countRun, keptTriggers, db, systemCaller, env, log, maxNesting } = deps;
  // A record of a run whose write is rolled back must not be rolled back with it.
  const outside = AsyncLocalStorage.snapshot();

  async function record(run: Omit<RunToRecord, 'actor'>, { caller, isPartOfWrite = false }: RunRequest): Promise<void> {
    if (run.plan.accountability === null) return;
    const actor = caller ?? nesting.run([run.plan.name], systemCaller);
    const write = () => recordRun({ ...run, actor });
    if (isPartOfWrite && run.outcome.status === 'reject') void outside(write);
    else if (isPartOfWrite || !db.isInUnitOfWork()) await write();
    else await outside(write);
  }

  return {
    async run(plan, request) {
      const { trigger, caller, id = randomUUID(), signal } = request;
      const path = [...(nesting.getStore() ?? []), plan.name];
      if (path.length > maxNesting)
        throw new Error(`flows call each other without an end: ${path.slice(-4).join(' → ')}`);
      const input = { id, trigger, caller, accountability: toAccountability(caller), env };
      const work = (one: AbortSignal | undefined) => nesting.run(path, () => chain(plan, { ...input, signal: one }));
      const isTrial = currentTrial() !== undefined;
      const isSeen = !isTrial && isFollowed(plan, request);
      const started = new Date();
      const followed = isSeen ? await followRun(id, plan, request, work) : undefined;
      const outcome = followed?.outcome ?? (await work(signal));
      const status = followed?.status ?? outcome.status;
      if (status !== 'resolve')
        log.debug({ flow: plan.id, run: id, step: outcome.steps.at(-1)?.key, status }, 'a flow was not successful');
      if (isTrial || status === 'waiting') return outcome;
      if (status !== 'cancelled') countRun(plan, outcome);
      const kept = isSeen ? undefined : keptTriggers.seal(plan, request);
      await record({ id, plan, outcome, status, started, kept }, request);
      return outcome;
    },
  };
}

/** `$accountability`: a new object for each run, null where no user's permissions apply. */
function toAccountability(caller: Caller | null): Readonly<Record<string, unknown>> | null {
  if (!caller || isSystem(caller)) return null;
  const { user, role, admin, app, share, ip = null, userAgent = null, origin = null } = caller;
  return { user, role, admin, app, ip, userAgent, origin, ...(share ? { share } : {}) };
}
