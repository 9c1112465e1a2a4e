import { type EventsApi, fail, type Log } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { CallerProvider, SessionService } from '../auth/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { RoutingService } from '../http/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { PressureLimit } from '../pressure-limit/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { AddressLimits } from '../rate-limit/contract.ts';
import type { RowFeed } from '../row-feed/contract.ts';
import { SCHEMA_CHANNEL, type SchemaService } from '../schema/contract.ts';
import { type ClientDeps, ConnectedClient } from './clients/client.ts';
import { createConnectionLimits } from './clients/connection-limits.ts';
import { createRightsVersion } from './clients/rights-version.ts';
import type { Realtime } from './contract.ts';
import type { EngineMetrics } from './metrics.ts';
import { createRealtimeEvents } from './realtime-events.ts';
import type { RealtimeSettings } from './settings.ts';
import { UpgradeHandler } from './sockets/accept-upgrade.ts';
import { createHeartbeat } from './sockets/heartbeat.ts';
import type { ServerSocket } from './sockets/socket.ts';
import { SubscriptionEngine } from './subscriptions/engine.ts';

interface Deps {
  readonly settings: RealtimeSettings;
  readonly access: AccessControl;
  readonly addressLimits: AddressLimits;
  readonly bus: InterProcessBus;
  readonly identity: CallerProvider;
  readonly items: ItemsEngine;
  readonly pressureLimit: PressureLimit;
  readonly query: QueryEngine;
  readonly routing: RoutingService;
  readonly rowFeed: RowFeed;
  readonly schema: SchemaService;
  readonly sessions: SessionService;
  readonly events: EventsApi;
  readonly log: Log;
}

/** Realtime while it is on. */
export interface RunningRealtime extends Pick<Realtime, 'accept' | 'connect' | 'metrics'> {
  /** Refuses new connections and closes the sockets. */
  closeSockets(): void;
  stop(): Promise<void>;
}

const SLOW_CHECK_PERIOD = 5000;
/** Milliseconds for which a client may take nothing. */
const LONGEST_SLOW = 30_000;
/** Milliseconds that clients have to answer when their socket is closed. */
const CLOSE_TIME = 1000;
const GOING_AWAY = 1001;

/** Creates the engine and what sockets need. Loaded only where realtime is on. */
export async function startRealtime(deps: Deps): Promise<RunningRealtime> {
  const { settings, addressLimits, pressureLimit, bus, schema, identity, sessions, events, rowFeed } = deps;
  const rights = createRightsVersion(bus, schema);
  const engine = new SubscriptionEngine({ ...deps, rights, historySize: settings.historySize });
  bus.subscribe(SCHEMA_CHANNEL, () => engine.schemaChanged());
  const limits = createConnectionLimits(settings.connections);
  const heartbeat = createHeartbeat(settings.heartbeat);
  const clients = new Set<ConnectedClient>();
  const sockets = new Map<ConnectedClient, ServerSocket>();
  let isStopping = false;

  const clientDeps: ClientDeps = {
    ...{ addressLimits, identity, sessions, rights },
    limits: { user: settings.subscriptions, public: Math.max(1, Math.floor(settings.subscriptions / 10)) },
    subscribe: (client, request) => engine.subscribe(client, request),
    onClose(client) {
      clients.delete(client);
      sockets.delete(client);
    },
  };

  const slowTimer = setInterval(() => dropSlowClients(clients, engine.metrics), SLOW_CHECK_PERIOD).unref();

  function closeSockets(): void {
    isStopping = true;
    const open = [...sockets.values()];
    for (const socket of open) socket.close(GOING_AWAY, 'the service stops');
    setTimeout(() => {
      for (const socket of open) socket.terminate();
    }, CLOSE_TIME).unref();
  }

  await engine.start();
  const upgrades = new UpgradeHandler({
    ...{ settings, addressLimits, pressureLimit, limits, heartbeat, clientDeps, routing: deps.routing, log: deps.log },
    events: createRealtimeEvents(events, () => identity.ofPublic()),
    isStopping: () => isStopping,
    onOpen(client, socket) {
      clients.add(client);
      sockets.set(client, socket);
    },
    onRefusal: () => engine.metrics.refusals++,
  });
  return {
    accept: (...upgrade) => upgrades.accept(...upgrade),
    async connect({ transport, connectionLimit, client: info, token, isReady = () => true, onDrop }) {
      const counted = isStopping
        ? undefined
        : limits.take({
            ...{ transport, limit: connectionLimit, address: info.ip ?? null },
            hasCredential: token !== undefined,
          });
      if (!counted) {
        engine.metrics.refusals++;
        throw fail('REQUESTS_EXCEEDED', 'too many connections');
      }
      const client = new ConnectedClient(clientDeps, { transport, info, counted, isReady, onDrop });
      clients.add(client);
      try {
        if (token !== undefined) await client.present({ kind: 'token', token });
      } catch (error) {
        client.close();
        throw error;
      }
      return client;
    },
    metrics() {
      const { changes, deliveries, reads, resyncs, drops, refusals, lag } = engine.metrics;
      return { connections: limits.count, ...engine.counts, changes, deliveries, reads, resyncs, drops, refusals, lag };
    },
    closeSockets,
    async stop() {
      closeSockets();
      clearInterval(slowTimer);
      heartbeat.stop();
      for (const client of [...clients]) client.close();
      await rowFeed.stop();
    },
  };
}

function dropSlowClients(clients: Iterable<ConnectedClient>, metrics: EngineMetrics): void {
  for (const client of clients) {
    if (client.isReady || Date.now() - (client.slowSince ?? 0) < LONGEST_SLOW) continue;
    metrics.drops++;
    client.drop(fail('REQUESTS_EXCEEDED', 'the client is too slow'));
  }
}
