import { definePlugin, fail, upgrade } from '#kernel';
import { presence } from '../cluster/contract.ts';
import { realtime, type SocketTransport } from '../realtime/contract.ts';
import type { LogLines } from './log-lines.ts';
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
    let running: { readonly lines: LogLines; readonly transport: SocketTransport } | undefined;
    host.onStart(async () => {
      const [{ LogLines: Lines }, { createLogsTransport }] = await Promise.all([
        import('./log-lines.ts'),
        import('./logs-transport.ts'),
      ]);
      const lines = new Lines(log);
      const transport = createLogsTransport({
        lines,
        lowestLevel: config.WEBSOCKETS_LOGS_LEVEL,
        connectionLimit: config.WEBSOCKETS_LOGS_CONN_LIMIT,
        processId: used.presence.id,
      });
      running = { lines, transport };
    });
    host.contribute(upgrade, {
      path,
      handle(request, socket, head) {
        if (running) void used.realtime.accept(request, socket, head, running.transport);
        else socket.destroy();
      },
    });
    host.onStop(async () => running?.lines.stop());
  },
});
