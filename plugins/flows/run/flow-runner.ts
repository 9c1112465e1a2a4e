import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Caller, isSystem, type Log } from '#kernel';
import type { HistoryRecorder } from '../../activity/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import { recordRun } from './record-run.ts';
import { RunSecrets } from './redaction.ts';
import type { RunChain, RunOutcome } from './run-chain.ts';
import type { RunLog } from './run-log.ts';
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
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly runLog: Pick<RunLog, 'add'>;
  readonly db: Pick<Db, 'isInUnitOfWork'>;
  /** Who acts in the history where a flow runs for no caller. */
  readonly systemCaller: () => Caller;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly maxNesting: number;
}

/** The flows that led to the running code: one flow calls another, or writes what another listens to. */
interface Nesting {
  /** Names of the flows. */
  readonly path: readonly string[];
  /** A flow may hand secrets of its run to another one in any text, so all of them know the same ones. */
  readonly secrets: RunSecrets;
}
const nesting = new AsyncLocalStorage<Nesting>();

export function createFlowRunner({
  chain,
  activity,
  runLog,
  db,
  systemCaller,
  env,
  log,
  maxNesting,
}: Deps): FlowRunner {
  // A record of a run whose write is rolled back must not be rolled back with it.
  const outside = AsyncLocalStorage.snapshot();

  async function keep(
    id: string,
    plan: FlowPlan,
    outcome: RunOutcome,
    caller: Caller | null,
    started: Date,
  ): Promise<void> {
    try {
      const actor = caller ?? systemCaller();
      const recorded = await recordRun(activity, actor, plan, outcome);
      if (recorded !== undefined)
        await runLog.add(id, plan, outcome, { started, user: actor.user, activity: recorded });
    } catch (error) {
      log.error({ err: error, flow: plan.id }, 'a run of a flow could not be recorded');
    }
  }

  return {
    async run(plan, { trigger, caller, id = randomUUID(), signal, isPartOfWrite = false }) {
      const outer = nesting.getStore();
      const path = [...(outer?.path ?? []), plan.name];
      if (path.length > maxNesting)
        throw new Error(`flows call each other without an end: ${path.slice(-4).join(' → ')}`);
      const secrets = outer?.secrets ?? new RunSecrets();
      const input = { id, trigger, caller, accountability: toAccountability(caller), env, secrets, signal };
      const started = new Date();
      const outcome = await nesting.run({ path, secrets }, () => chain(plan, input));
      if (outcome.status !== 'resolve')
        log.debug(
          { flow: plan.id, run: id, step: outcome.lastStep, status: outcome.status },
          'a flow was not successful',
        );
      if (currentTrial()) return outcome;
      const record = () => keep(id, plan, outcome, caller, started);
      if (isPartOfWrite && outcome.status === 'reject') void outside(record);
      else if (isPartOfWrite || !db.isInUnitOfWork()) await record();
      else await outside(record);
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
