import type { EventsApi, Log, Middleware } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { RoutingService } from '../http/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { RedisConnection } from '../redis/contract.ts';
import { ROW_CHANGES_CHANNEL, type RowChanges, SCHEMA_CHANNEL, type SchemaService } from '../schema/contract.ts';
import { CACHE_CLEAR_CHANNEL } from './contract.ts';
import { findAnswerCollector } from './request/answer-collector.ts';
import { createReadRequests } from './request/read-request.ts';
import { createCacheRequestHandler } from './request-handler.ts';
import { type AnswerCounts, ResponseCache } from './response-cache.ts';
import type { CacheSettings } from './settings.ts';
import type { AnswerStore } from './store/answer-store.ts';
import { createAnnouncedTables } from './tables/announced-tables.ts';
import { TableChanges } from './tables/table-changes.ts';

interface Deps {
  readonly settings: CacheSettings;
  readonly access: AccessControl;
  readonly bus: InterProcessBus;
  readonly query: Pick<QueryEngine, 'setAnswerSourcesLookup'>;
  readonly redis: RedisConnection;
  readonly routing: RoutingService;
  readonly rowChanges: RowChanges;
  readonly schema: SchemaService;
  readonly events: EventsApi;
  readonly log: Log;
}

/** The response cache while it is on. */
export interface RunningCache {
  /** The layer behind the one that identifies callers. */
  readonly handle: Middleware['handle'];
  readonly store: AnswerStore;
  readonly counts: AnswerCounts;
  /** Whether answers are stored: the database announces changes of tables, and the connection that listens is there. */
  isActive(): boolean;
  stop(): Promise<void>;
}

/** Creates the cache and subscribes to everything that makes answers stale. Loaded only where the cache is on. */
export async function startCache(deps: Deps): Promise<RunningCache> {
  const { settings, access, bus, rowChanges, schema, events, log } = deps;
  const changes = new TableChanges();
  const store = await openStore(deps, changes);
  const { ignoredCollections } = settings;
  const tables = createAnnouncedTables({ rowChanges, schema, changes, ignoredCollections, log });
  let isConnected = true;

  function forgetAll(): void {
    changes.recordAll();
    store.clear();
  }
  bus.subscribe(ROW_CHANGES_CHANNEL, (relation) => {
    if (typeof relation !== 'number') return;
    changes.record(relation);
    store.change(relation);
  });
  // A command may have removed a trigger, attached a partition or changed a view.
  bus.subscribe(SCHEMA_CHANNEL, () => {
    tables.forget();
    forgetAll();
  });
  bus.subscribe(CACHE_CLEAR_CHANNEL, forgetAll);
  bus.onLost(() => {
    isConnected = false;
    forgetAll();
  });
  bus.onReconnect(() => {
    tables.forget();
    forgetAll();
    isConnected = true;
  });

  const announcesCommands = await schema.announceCommands();
  if (!announcesCommands)
    log.warn(
      'answers are not cached: the database role may not create an event trigger, so that changes of tables and triggers would not be noticed. Let a superuser create it once (docs/guides/admins.md), or set CACHE_ENABLED=false',
    );
  deps.query.setAnswerSourcesLookup(findAnswerCollector);
  const isListening = () => isConnected && announcesCommands;
  const { routing } = deps;
  const requests = createReadRequests({ access, schema, routing });
  const { waitForConfirmation } = bus;
  const { isUnchanged } = requests;
  const cache = new ResponseCache({
    settings,
    store,
    changes,
    tables,
    events,
    isUnchanged,
    waitForConfirmation,
    isListening,
    log,
  });
  const { isSkipAllowed } = settings;
  return {
    handle: createCacheRequestHandler({ cache, requests, routing, isSkipAllowed, isListening, waitForConfirmation }),
    store,
    counts: cache.counts,
    isActive: isListening,
    async stop() {
      await tables.settle();
      await store.stop();
    },
  };
}

/** Opens the store of CACHE_STORE. The code of the other one is not loaded. */
async function openStore({ settings, redis, log }: Deps, changes: TableChanges): Promise<AnswerStore> {
  const { maxSize, namespace, ttl } = settings;
  if (settings.store === 'memory') {
    const { createMemoryStore } = await import('./store/memory-store.ts');
    return createMemoryStore(changes, maxSize);
  }
  const [client, { RedisStore }, { WriteBudget }] = await Promise.all([
    redis.open(),
    import('./store/redis-store.ts'),
    import('./store/write-budget.ts'),
  ]);
  return new RedisStore({ client, namespace, budget: new WriteBudget(maxSize, ttl), log });
}
