import { type Caller, commands, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { identity } from '../auth/contract.ts';
import { environmentVariables, runtimeAudit } from '../broker/contract.ts';
import { bus, presence } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { mail } from '../mail/contract.ts';
import { notifications } from '../notifications/contract.ts';
import { outbound } from '../outbound/contract.ts';
import '../queue/contract.ts';
import { schedule } from '../schedule/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import * as collections from './collections.ts';
import { createFlowsCommand } from './command.ts';
import { flowOperations, operations } from './contract.ts';
import { createCoreOperations } from './operations/core-operations.ts';
import manifest from './package.json' with { type: 'json' };
import { confirmFlowChanges } from './plan/flow-changes.ts';
import { createFlowPlans, flowsChangedTriggers, flowTablesOf } from './plan/flow-plans.ts';
import { createCallersWithoutListeners } from './run/callers-without-listeners.ts';
import { createFlowRunner, currentFlowName, type FlowRunner } from './run/flow-runner.ts';
import { createRunChain } from './run/run-chain.ts';
import { createTryFlow } from './run/trial-report.ts';
import { createCancelRun } from './runs/cancel-run.ts';
import { createFlowAuditLines } from './runs/flow-audit.ts';
import { createRetryRun } from './runs/retry-run.ts';
import { createRunCleanUp, type RetentionSettings } from './runs/run-clean-up.ts';
import * as runCollections from './runs/run-collections.ts';
import { createRunRecords } from './runs/run-records.ts';
import { runRoutes } from './runs/run-routes.ts';
import { createSettleRuns } from './runs/settle-runs.ts';
import { createAsyncRuns } from './triggers/async-runs.ts';
import { startEventTriggers } from './triggers/event.ts';
import { startScheduleTriggers } from './triggers/schedule.ts';
import { triggerRoutes } from './triggers/trigger-routes.ts';
import { tryRoute } from './triggers/try-route.ts';

interface Config extends RetentionSettings {
  FLOWS_ENV_ALLOW_LIST: readonly string[];
  FLOWS_MAX_STEPS: number;
  FLOWS_MAX_NESTING: number;
  FLOWS_REQUEST_TIMEOUT: number;
  FLOWS_REQUEST_MAX_SIZE: number;
  FLOWS_BACKGROUND_CONCURRENCY: number;
  FLOWS_PARK_AFTER_FAILURES: number;
}

const USED = {
  access,
  activity,
  bus,
  environmentVariables,
  identity,
  items,
  mail,
  notifications,
  outbound,
  presence,
  runtimeAudit,
  schedule,
  secrets,
};

/** Why operations act without a user; writes in the second name trigger no flows. */
const NO_USER = 'a flow runs for no user, or an operation has all permissions';
const NO_USER_WITHOUT_LISTENERS = 'an operation writes for no user and triggers no flows';
const PARKING = 'a flow that fails again and again is switched off';

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use(USED);
    const current = () => host.read(flowOperations);
    host.define(flowOperations);
    host.provide(operations, {
      find: (id) => current().find(id),
      owners: (id) => current().owners(id),
      ids: () => current().ids(),
    });
    for (const one of [
      collections.flowsCollection,
      collections.operationsCollection,
      runCollections.flowRunsCollection,
      runCollections.flowRunStepsCollection,
      runCollections.flowCountersCollection,
    ])
      host.contribute(systemCollections, one);
    host.contribute(migrations, flowsChangedTriggers(db));
    host.contribute(migrations, runCollections.runsUnderWayMigration(db));

    const withoutListeners = createCallersWithoutListeners();
    function systemCaller(isWithoutListeners: boolean): Caller {
      const reason = isWithoutListeners ? NO_USER_WITHOUT_LISTENERS : NO_USER;
      const flow = currentFlowName();
      if (flow !== undefined) used.runtimeAudit.countSystemUse(manifest.name, `the flow "${flow}": ${reason}`);
      return isWithoutListeners ? withoutListeners.add(host.asSystem(reason)) : host.asSystem(reason);
    }
    const plans = createFlowPlans({ db, bus: used.bus, log });
    const records = createRunRecords({
      db,
      used,
      plans,
      parkAfterFailures: config.FLOWS_PARK_AFTER_FAILURES,
      parkingCaller: () => host.asSystem(PARKING),
      log,
    });
    const runner: FlowRunner = createFlowRunner({
      chain: createRunChain({ operations: current, maxSteps: config.FLOWS_MAX_STEPS }),
      ...records,
      db,
      systemCaller: () => systemCaller(false),
      env: used.environmentVariables.pick(config.FLOWS_ENV_ALLOW_LIST),
      log,
      maxNesting: config.FLOWS_MAX_NESTING,
    });
    const stopping = new AbortController();
    const limits = { timeout: config.FLOWS_REQUEST_TIMEOUT, maxBytes: config.FLOWS_REQUEST_MAX_SIZE };
    for (const operation of createCoreOperations({
      used,
      identity: host.identity,
      events,
      withoutListeners,
      systemCaller,
      plans,
      runner: () => runner,
      limits,
      stopping: stopping.signal,
      log,
    }))
      host.contribute(flowOperations, operation);

    const tryFlow = createTryFlow(db, runner);
    const asyncRuns = createAsyncRuns({
      queue: host.queue,
      secrets: used.secrets,
      identity: used.identity,
      plans,
      runner,
      concurrency: config.FLOWS_BACKGROUND_CONCURRENCY,
      log,
      ...records,
    });
    const settleRuns = createSettleRuns({ ...records, asyncRuns });
    const retryRun = createRetryRun({ ...records, secrets: used.secrets, plans, asyncRuns });
    const cancelRun = createCancelRun({ ...records, asyncRuns });
    const { list: runs } = records;
    host.contribute(
      commands,
      createFlowsCommand({ plans, runs, settleRuns, retryRun, tryFlow, systemCaller: () => systemCaller(false) }),
    );
    for (const route of [
      ...triggerRoutes({ items: used.items, plans, runner, asyncRuns, tables: flowTablesOf(db) }),
      ...runRoutes({ items: used.items, runs, counters: records.counters, settleRuns, cancelRun, retryRun }),
      tryRoute({ plans, tryFlow }),
      ...collectionRoutes(used.items, '/flows', 'platform_flows'),
      ...collectionRoutes(used.items, '/operations', 'platform_operations'),
    ])
      host.contribute(routes, route);

    confirmFlowChanges({ db, events, bus: used.bus, plans });
    startEventTriggers({ events, plans, runner, withoutListeners, log });
    used.runtimeAudit.addLines(() => createFlowAuditLines(plans.known()));
    const cleanUp = createRunCleanUp({ ...records, db, settleRuns, schedule: used.schedule, settings: config, log });
    events.onAction('server.start', () => cleanUp.start());
    const schedules = startScheduleTriggers({ schedule: used.schedule, plans, runner, log });
    host.onStart(async () => {
      cleanUp.assertSettings();
      await plans.current();
    });
    host.onStop(async () => {
      stopping.abort(new Error('the service stops'));
      await schedules.stop();
      await asyncRuns.stop();
      await cleanUp.stop();
      await records.counters.stop();
    });
  },
});
