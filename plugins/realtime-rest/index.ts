import { definePlugin, fail, upgrade } from '#kernel';
import { access } from '../access/contract.ts';
import { items } from '../items/contract.ts';
import { realtime, type SocketTransport } from '../realtime/contract.ts';
import { schema } from '../schema/contract.ts';
import { websocketTransports } from '../server/contract.ts';
import manifest from './package.json' with { type: 'json' };

interface Config {
  WEBSOCKETS_REST_ENABLED: boolean;
  WEBSOCKETS_REST_PATH: string;
  WEBSOCKETS_REST_AUTH: 'public' | 'handshake' | 'strict';
  WEBSOCKETS_REST_AUTH_TIMEOUT: number;
  WEBSOCKETS_REST_CONN_LIMIT: number | undefined;
}

interface Shared {
  WEBSOCKETS_ENABLED: boolean;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, events, log } = host;
    const used = host.use({ access, items, realtime, schema });
    if (!config.WEBSOCKETS_ENABLED || !config.WEBSOCKETS_REST_ENABLED) return;
    const path = config.WEBSOCKETS_REST_PATH;
    if (!/^\/[\w/.-]*$/.test(path)) throw fail('INVALID_CONFIG', 'WEBSOCKETS_REST_PATH must be a path like /websocket');
    const authentication = config.WEBSOCKETS_REST_AUTH;
    let transport: SocketTransport | undefined;
    host.onStart(async () => {
      const { createRestTransport } = await import('./rest-transport.ts');
      transport = createRestTransport({
        ...{ ...used, events, log, authentication },
        authTimeout: config.WEBSOCKETS_REST_AUTH_TIMEOUT * 1000,
        connectionLimit: config.WEBSOCKETS_REST_CONN_LIMIT,
      });
    });
    host.contribute(upgrade, {
      path,
      handle(request, socket, head) {
        if (transport) void used.realtime.accept(request, socket, head, transport);
        else socket.destroy();
      },
    });
    const { heartbeat } = used.realtime;
    host.contribute(websocketTransports, { transport: 'rest', authentication, path, heartbeat });
  },
});
