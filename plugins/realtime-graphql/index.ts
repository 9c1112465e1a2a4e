import { definePlugin, upgrade } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { graphqlOperations, graphqlSubscriptions } from '../graphql/contract.ts';
import { realtime, type SocketAuthentication } from '../realtime/contract.ts';
import { schema } from '../schema/contract.ts';
import { websocketTransports } from '../server/contract.ts';
import { createDocumentChecks } from './document-checks.ts';
import manifest from './package.json' with { type: 'json' };
import { createGraphqlSocketHandler } from './socket-handler.ts';

interface Config {
  readonly WEBSOCKETS_GRAPHQL_ENABLED: boolean;
  readonly WEBSOCKETS_GRAPHQL_PATH: string;
  readonly WEBSOCKETS_GRAPHQL_AUTH: SocketAuthentication;
  readonly WEBSOCKETS_GRAPHQL_AUTH_TIMEOUT: number;
  readonly WEBSOCKETS_GRAPHQL_CONN_LIMIT: number | undefined;
}

/** Settings of `realtime`. */
interface Shared {
  readonly WEBSOCKETS_ENABLED: boolean;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, log } = host;
    const used = host.use({ bus, realtime, schema, operations: graphqlOperations });
    if (!config.WEBSOCKETS_ENABLED || !config.WEBSOCKETS_GRAPHQL_ENABLED) return;
    const checks = createDocumentChecks(used);
    const path = config.WEBSOCKETS_GRAPHQL_PATH;
    const authentication = config.WEBSOCKETS_GRAPHQL_AUTH;
    const initTimeout = config.WEBSOCKETS_GRAPHQL_AUTH_TIMEOUT * 1000;
    const openStreams = new Set<() => void>();
    const connectionLimit = config.WEBSOCKETS_GRAPHQL_CONN_LIMIT;
    const heartbeat = () => used.realtime.heartbeat;

    host.onStart(() => checks.start());
    // The kernel emits it before it waits for running requests.
    host.events.onAction('server.stop', () => {
      for (const end of [...openStreams]) end();
    });
    host.contribute(upgrade, {
      path,
      handle: createGraphqlSocketHandler({ ...used, checks, authentication, connectionLimit, initTimeout, log }),
    });
    host.contribute(graphqlSubscriptions, {
      isAnnounced: ({ kind, hasKey }) => kind === 'table' && hasKey,
      async openEventStream(request, call) {
        const { openEventStream } = await import('./event-stream.ts');
        return openEventStream({ ...used, checks, openStreams, connectionLimit, heartbeat }, request, call);
      },
    });
    host.contribute(websocketTransports, {
      transport: 'graphql',
      authentication,
      path,
      get heartbeat() {
        return heartbeat();
      },
    });
  },
});
