import { type AsSystem, type Caller, commands, definePlugin, type Host } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { identity } from '../auth/contract.ts';
import { environmentVariables, type RuntimeAudit, runtimeAudit } from '../broker/contract.ts';
import { bus, presence } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { mail } from '../mail/contract.ts';
import { notifications } from '../notifications/contract.ts';
import { outbound } from '../outbound/contract.ts';
import '../queue/contract.ts';
import { retentionRules } from '../retention/contract.ts';
import { schedule } from '../schedule/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import * as collections from './collections.ts';
import { createFlowsCommand } from './command.ts';
import { type FlowOperationRegistry, flowOperations, operations } from './contract.ts';
import { createDeliveries } from './delivery/deliveries.ts';
import { createCoreOperations } from './operations/core-operations.ts';
import manifest from './package.json' with { type: 'json' };
import { refuseWritesByOthers } from './plan/admin-writes.ts';
import { confirmFlowChanges } from './plan/flow-changes.ts';
import { createFlowPlans, flowsChangedTriggers, flowTablesOf } from './plan/flow-plans.ts';
import { createFindFlowProblems } from './plan/flow-problems.ts';
import { type CallersWithoutListeners, createCallersWithoutListeners } from './run/callers-without-listeners.ts';
import { createFlowRunner, currentFlowName, type FlowRunner } from './run/flow-runner.ts';
import { createRunChain } from './run/run-chain.ts';
import { createRunWaiter } from './run/run-waits.ts';
import { createTryFlow } from './run/trial-report.ts';
import { createFlowAuditLines } from './runs/flow-audit.ts';
import { RUN_COLLECTIONS, runsUnderWayMigration } from './runs/run-collections.ts';
import { createRunControl } from './runs/run-control.ts';
import { createRunRecords } from './runs/run-records.ts';
import { createOperationSecrets, operationSecretsMigrations } from './secrets/operation-secrets.ts';
import { registerSecretFilters } from './secrets/secret-filters.ts';
import { createRunStatesMigration } from './state/run-states.ts';
import { createBackground } from './triggers/background.ts';
import { startEventTriggers } from './triggers/event.ts';
import { problemsRoute } from './triggers/problems-route.ts';
import { startScheduleTriggers } from './triggers/schedule.ts';
import { triggerRoutes } from './triggers/trigger-routes.ts';
import { tryRoute } from './triggers/try-route.ts';

interface Config {
  FLOWS_ENV_ALLOW_LIST: readonly string[];
  FLOWS_MAX_STEPS: number;
  FLOWS_MAX_NESTING: number;
  FLOWS_REQUEST_TIMEOUT: number;
  FLOWS_REQUEST_MAX_SIZE: number;
  FLOWS_BACKGROUND_CONCURRENCY: number;
  FLOWS_BACKGROUND_MAX_UNFINISHED: number;
  FLOWS_BACKGROUND_MAX_UNFINISHED_PER_FLOW: number;
  FLOWS_DELIVERY_CONCURRENCY: number;
  FLOWS_ANSWER_MAX_WAIT: number;
  FLOWS_WRITE_MAX_WAIT: number;
  FLOWS_PARK_AFTER_FAILURES: number;
}

/** Settings of other plugins. */
interface SharedConfig {
  FLOW_LOGS_RETENTION: number;
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

/** Creates callers without a user, each counted with the name of the flow that it acts for. */
const createSystemCallers =
  (asSystem: AsSystem, audit: Pick<RuntimeAudit, 'countSystemUse'>, withoutListeners: CallersWithoutListeners) =>
  (isWithoutListeners: boolean): Caller => {
    const reason = isWithoutListeners ? NO_USER_WITHOUT_LISTENERS : NO_USER;
    const flow = currentFlowName();
    if (flow !== undefined) audit.countSystemUse(manifest.name, `the flow "${flow}": ${reason}`);
    return isWithoutListeners ? withoutListeners.add(asSystem(reason)) : asSystem(reason);
  };

/** Collects the operations of all plugins. Returns the function that reads those that there are. */
function provideOperations(host: Pick<Host, 'define' | 'provide' | 'read'>): () => FlowOperationRegistry {
  const current = () => host.read(flowOperations);
  host.define(flowOperations);
  host.provide(operations, {
    find: (id) => current().find(id),
    owners: (id) => current().owners(id),
    ids: () => current().ids(),
  });
  return current;
}

/** Tables of flows, operations, their secrets, and runs. */
function contributeTables({ contribute, db }: Pick<Host, 'contribute' | 'db'>): void {
  for (const one of [collections.flowsCollection, collections.operationsCollection, ...RUN_COLLECTIONS])
    contribute(systemCollections, one);
  for (const migration of [
    flowsChangedTriggers(db),
    createRunStatesMigration(db),
    runsUnderWayMigration(db),
    ...operationSecretsMigrations(db),
  ])
    contribute(migrations, migration);
}

const waitLimitsOf = ({ FLOWS_WRITE_MAX_WAIT: write, FLOWS_ANSWER_MAX_WAIT: answer }: Config) => ({ write, answer });
const backgroundLimitsOf = (config: Config) => ({
  ofFlow: config.FLOWS_BACKGROUND_MAX_UNFINISHED_PER_FLOW,
  inAll: config.FLOWS_BACKGROUND_MAX_UNFINISHED,
});

export default definePlugin<Config, SharedConfig>({
  manifest,
  register(host) {
    const { config, db, events, log, queue } = host;
    const used = host.use(USED);
    const current = provideOperations(host);
    contributeTables(host);
    const secretOptions = createOperationSecrets(db, used.secrets, log);
    refuseWritesByOthers(events);
    registerSecretFilters({ events, operations: current, stored: secretOptions });

    const withoutListeners = createCallersWithoutListeners();
    const systemCaller = createSystemCallers(host.asSystem, used.runtimeAudit, withoutListeners);
    const plans = createFlowPlans({ db, bus: used.bus, openSecret: secretOptions.open, log });
    const parking = { failures: config.FLOWS_PARK_AFTER_FAILURES, systemCaller: () => host.asSystem(PARKING) };
    const records = createRunRecords({ db, used, plans, parking, log });
    const stopping = new AbortController();
    const runner: FlowRunner = createFlowRunner({
      chain: createRunChain({
        operations: current,
        db,
        waiter: createRunWaiter(waitLimitsOf(config), db.isInUnitOfWork, stopping.signal),
        stopping: stopping.signal,
        maxSteps: config.FLOWS_MAX_STEPS,
      }),
      ...records,
      db,
      systemCaller: () => systemCaller(false),
      env: used.environmentVariables.pick(config.FLOWS_ENV_ALLOW_LIST),
      log,
      maxNesting: config.FLOWS_MAX_NESTING,
    });
    const limits = { timeout: config.FLOWS_REQUEST_TIMEOUT, maxBytes: config.FLOWS_REQUEST_MAX_SIZE };
    const { outbound, secrets } = used;
    const concurrency = config.FLOWS_DELIVERY_CONCURRENCY;
    const deliveries = createDeliveries({ outbound, secrets, limits, queue, concurrency, log });
    for (const operation of createCoreOperations({
      ...{ used, events, withoutListeners, systemCaller, plans, limits, deliveries, log },
      identity: host.identity,
      runner: () => runner,
    }))
      host.contribute(flowOperations, operation);

    const background = createBackground({
      ...{ ...used, ...records, db, events, log, plans, runner, queue },
      concurrency: config.FLOWS_BACKGROUND_CONCURRENCY,
      limits: backgroundLimitsOf(config),
    });
    const tryFlow = createTryFlow(db, runner);
    const control = createRunControl({ ...background, records, used, plans, keep: config.FLOW_LOGS_RETENTION, log });
    host.contribute(retentionRules, control.cleanUp.rule);
    const command = { plans, ...control, runs: records.list, tryFlow, systemCaller: () => systemCaller(false) };
    host.contribute(commands, createFlowsCommand(command));
    const findProblems = createFindFlowProblems({ operations: current, isCronExpression: used.schedule.isPattern });
    for (const route of [
      ...triggerRoutes({ items: used.items, plans, runner, tables: flowTablesOf(db), ...background }),
      ...control.routes,
      tryRoute({ plans, tryFlow }),
      problemsRoute({ items: used.items, plans, findProblems }),
      ...collectionRoutes(used.items, '/flows', 'platform_flows'),
      ...collectionRoutes(used.items, '/operations', 'platform_operations'),
    ])
      host.contribute(routes, route);

    confirmFlowChanges({ db, events, bus: used.bus, plans });
    startEventTriggers({ events, plans, runner, withoutListeners, log, ...background });
    used.runtimeAudit.addLines(() => createFlowAuditLines(plans.known()));
    events.onAction('server.start', () => control.cleanUp.start());
    const schedules = startScheduleTriggers({ events, schedule: used.schedule, plans, log, ...background });
    host.onStart(async () => {
      await plans.current();
    });
    host.onStop(async () => {
      stopping.abort(new Error('the service stops'));
      await schedules.stop();
      await background.stop();
      await deliveries.stop();
      await control.cleanUp.stop();
      await records.stop();
    });
  },
});
