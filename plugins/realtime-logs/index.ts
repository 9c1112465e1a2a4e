import { definePlugin, fail, upgrade } from '#kernel';
import { presence } from '../cluster/contract.ts';
import { realtime } from '../realtime/contract.ts';
import { LogLines } from './log-lines.ts';
import { createLogsTransport } from './logs-transport.ts';
import manifest from './package.json' with { type: 'json' };

interface Config {
  WEBSOCKETS_LOGS_ENABLED: boolean;
  WEBSOCKETS_LOGS_PATH: string;
  WEBSOCKETS_LOGS_LEVEL: string;
  WEBSOCKETS_LOGS_CONN_LIMIT: number;
}

interface Shared {
  WEBSOCKETS_ENABLED: boolean;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, log } = host;
    const used = host.use({ presence, realtime });
    if (!config.WEBSOCKETS_ENABLED || !config.WEBSOCKETS_LOGS_ENABLED) return;
    const path = config.WEBSOCKETS_LOGS_PATH;
    if (!/^\/[\w/.-]*$/.test(path))
      throw fail('INVALID_CONFIG', 'WEBSOCKETS_LOGS_PATH must be a path like /websocket/logs');
    const lines = new LogLines(log);
    const transport = createLogsTransport({
      lines,
      lowestLevel: config.WEBSOCKETS_LOGS_LEVEL,
      connectionLimit: config.WEBSOCKETS_LOGS_CONN_LIMIT,
      processId: used.presence.id,
    });
    host.contribute(upgrade, {
      path,
      handle: (request, socket, head) => void used.realtime.accept(request, socket, head, transport),
    });
    host.onStop(async () => lines.stop());
  },
});
