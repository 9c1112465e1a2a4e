import type { Caller, Log } from '#kernel';
import type { HistoryRecorder } from '../../activity/contract.ts';
import type { InterProcessBus, ProcessPresence } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { NotificationService } from '../../notifications/contract.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import type { AddedRun } from '../triggers/async-runs.ts';
import { createAddEndedRun } from './ended-runs.ts';
import { createFollowRun, type FollowRun } from './follow-run.ts';
import { createKeptTriggers, type KeptTriggers } from './kept-trigger.ts';
import { createRunModelLoader, type LoadRunModel } from './load-run-model.ts';
import { createFlowParking } from './park-flows.ts';
import { countRun, createRecordRun, type RecordRun } from './record-run.ts';
import { createRunCancellations, type RunCancellations } from './run-cancellations.ts';
import { createRunCounters, type RunCounters } from './run-counters.ts';
import { createRunList, type RunList } from './run-list.ts';
import { createRunsUnderWay, type RunsUnderWay } from './runs-under-way.ts';
import { createUnrecordedEnds } from './unrecorded-ends.ts';

interface Deps {
  readonly db: Db;
  readonly used: {
    readonly activity: HistoryRecorder;
    readonly bus: InterProcessBus;
    readonly presence: ProcessPresence;
    readonly items: ItemsEngine;
    readonly notifications: NotificationService;
    readonly secrets: SecretCipher;
  };
  readonly plans: Pick<FlowPlans, 'current'>;
  /** FLOWS_PARK_AFTER_FAILURES, and the caller that parks flows. */
  readonly parking: { readonly failures: number; readonly systemCaller: () => Caller };
  readonly log: Log;
}

/** What is stored of runs, and kept in memory of those under way. */
export interface RunRecords {
  readonly loadRunModel: LoadRunModel;
  readonly list: RunList;
  readonly underWay: RunsUnderWay;
  readonly cancellations: RunCancellations;
  readonly keptTriggers: KeptTriggers;
  readonly counters: RunCounters;
  readonly recordRun: RecordRun;
  readonly followRun: FollowRun;
  readonly countRun: (plan: FlowPlan, outcome: RunOutcome) => void;
  /** For runs that are added as jobs. */
  readonly onAdded: (id: string, plan: FlowPlan, run: AddedRun) => Promise<void>;
  readonly onRefused: (id: string, message: string) => Promise<void>;
  /** Stores what was counted. */
  stop(): Promise<void>;
}

export function createRunRecords({ db, used, plans, parking: parkingSettings, log }: Deps): RunRecords {
  const { activity, bus, presence, items, notifications, secrets } = used;
  const loadRunModel = createRunModelLoader(db);
  const underWay = createRunsUnderWay({ db, presence, loadRunModel });
  const cancellations = createRunCancellations(bus);
  const keptTriggers = createKeptTriggers(secrets, log);
  const parking = createFlowParking({ db, items, notifications, plans, log, ...parkingSettings });
  const counters = createRunCounters({ db, log, onFailures: parking.park });
  const unrecordedEnds = createUnrecordedEnds(underWay);
  const report = (id: string) => (error: unknown) =>
    log.error({ err: error, run: id }, 'a run that waits could not be recorded');
  return {
    loadRunModel,
    list: createRunList(loadRunModel),
    underWay,
    cancellations,
    keptTriggers,
    counters,
    recordRun: createRecordRun({ activity, addEndedRun: createAddEndedRun(db), unrecordedEnds, log }),
    followRun: createFollowRun({ underWay, cancellations, keptTriggers, log }),
    countRun: (plan, outcome) => countRun(counters, parking, plan, outcome),
    async onAdded(id, plan, { caller, trigger, retryOf = null }) {
      if (plan.accountability === null) return;
      const kept = keptTriggers.seal(plan, { trigger, caller });
      await underWay.addWaiting({ id, flow: plan.id, user: caller?.user ?? null, kept, retryOf }).catch(report(id));
    },
    async stop() {
      unrecordedEnds.stop();
      await counters.stop();
    },
    onRefused: (id, message) => underWay.refuse(id, message).catch(report(id)),
  };
}
