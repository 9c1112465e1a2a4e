import { commands, definePlugin, type Host } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { identity } from '../auth/contract.ts';
import { environmentVariables } from '../broker/contract.ts';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { mail } from '../mail/contract.ts';
import { outbound } from '../outbound/contract.ts';
import '../queue/contract.ts';
import { schedule } from '../schedule/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import * as collections from './collections.ts';
import { createFlowsCommand } from './command.ts';
import { type FlowOperationRegistry, flowOperations, operations } from './contract.ts';
import { createCoreOperations } from './operations/core-operations.ts';
import manifest from './package.json' with { type: 'json' };
import { confirmFlowChanges } from './plan/flow-changes.ts';
import { createFlowPlans, flowsChangedTriggers, flowTablesOf } from './plan/flow-plans.ts';
import { createFindFlowProblems } from './plan/flow-problems.ts';
import { createCallersWithoutListeners } from './run/callers-without-listeners.ts';
import { createFlowRunner, type FlowRunner } from './run/flow-runner.ts';
import { createRunChain } from './run/run-chain.ts';
import { createRunLog, flowRunsCollection } from './run/run-log.ts';
import { createTryFlow } from './run/trial-report.ts';
import { createOperationSecrets, operationSecretsMigrations } from './secrets/operation-secrets.ts';
import { registerSecretFilters } from './secrets/secret-filters.ts';
import { createAsyncRuns } from './triggers/async-runs.ts';
import { startEventTriggers } from './triggers/event.ts';
import { problemsRoute } from './triggers/problems-route.ts';
import { runsRoute } from './triggers/runs-route.ts';
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
}

const USED = { access, activity, bus, environmentVariables, identity, items, mail, outbound, schedule, secrets };

/** Why operations act without a user; writes in the second name trigger no flows. */
const NO_USER = 'a flow runs for no user, or an operation has all permissions';
const NO_USER_WITHOUT_LISTENERS = 'an operation writes for no user and triggers no flows';

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

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use(USED);
    const current = provideOperations(host);
    for (const one of [collections.flowsCollection, collections.operationsCollection, flowRunsCollection])
      host.contribute(systemCollections, one);
    for (const migration of [flowsChangedTriggers(db), ...operationSecretsMigrations(db)])
      host.contribute(migrations, migration);
    const secretOptions = createOperationSecrets(db, used.secrets, log);
    registerSecretFilters({ events, operations: current, stored: secretOptions });

    const withoutListeners = createCallersWithoutListeners();
    const systemCaller = (isWithoutListeners: boolean) =>
      isWithoutListeners ? withoutListeners.add(host.asSystem(NO_USER_WITHOUT_LISTENERS)) : host.asSystem(NO_USER);
    const plans = createFlowPlans({ db, bus: used.bus, openSecret: secretOptions.open, log });
    const runLog = createRunLog(db);
    const runner: FlowRunner = createFlowRunner({
      chain: createRunChain({ operations: current, maxSteps: config.FLOWS_MAX_STEPS }),
      activity: used.activity,
      runLog,
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
    host.contribute(commands, createFlowsCommand({ plans, runLog, tryFlow, systemCaller: () => systemCaller(false) }));
    const findProblems = createFindFlowProblems({ operations: current, isCronExpression: used.schedule.isPattern });
    const asyncRuns = createAsyncRuns({
      queue: host.queue,
      secrets: used.secrets,
      identity: used.identity,
      plans,
      runner,
      concurrency: config.FLOWS_BACKGROUND_CONCURRENCY,
      log,
    });
    for (const route of [
      ...triggerRoutes({ items: used.items, plans, runner, asyncRuns, tables: flowTablesOf(db) }),
      runsRoute({ items: used.items, log: runLog }),
      tryRoute({ plans, tryFlow }),
      problemsRoute({ items: used.items, plans, findProblems }),
      ...collectionRoutes(used.items, '/flows', 'platform_flows'),
      ...collectionRoutes(used.items, '/operations', 'platform_operations'),
    ])
      host.contribute(routes, route);

    confirmFlowChanges({ db, events, bus: used.bus, plans });
    startEventTriggers({ events, plans, runner, withoutListeners, log });
    const schedules = startScheduleTriggers({ events, schedule: used.schedule, plans, runner, log });
    host.onStart(async () => {
      await plans.current();
    });
    host.onStop(async () => {
      stopping.abort(new Error('the service stops'));
      await schedules.stop();
      await asyncRuns.stop();
    });
  },
});
