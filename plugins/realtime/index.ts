import { commands, definePlugin, fail } from '#kernel';
import { access } from '../access/contract.ts';
import { identity, sessions } from '../auth/contract.ts';
import { bus } from '../cluster/contract.ts';
import { routing } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { metricSources } from '../metrics/contract.ts';
import { pressureLimit } from '../pressure-limit/contract.ts';
import { query } from '../query/contract.ts';
import { addressLimits } from '../rate-limit/contract.ts';
import { rowFeed } from '../row-feed/contract.ts';
import { schema } from '../schema/contract.ts';
import { realtime } from './contract.ts';
import { createRealtimeMetricSource } from './metric-source.ts';
import manifest from './package.json' with { type: 'json' };
import { createRemoveTriggersCommand } from './remove-triggers.ts';
import { createRealtimeSettings, type RealtimeConfig, type SharedHttpConfig } from './settings.ts';
import type { RunningRealtime } from './start.ts';

export default definePlugin<RealtimeConfig, SharedHttpConfig>({
  manifest,
  register(host) {
    const { config, events, log } = host;
    const used = host.use({
      access,
      addressLimits,
      bus,
      identity,
      items,
      pressureLimit,
      query,
      routing,
      rowFeed,
      schema,
      sessions,
    });
    const isEnabled = config.WEBSOCKETS_ENABLED;
    const settings = createRealtimeSettings(config, config);
    let running: RunningRealtime | undefined;
    const requireRunning = (): RunningRealtime => {
      if (!running)
        throw fail('SERVICE_UNAVAILABLE', isEnabled ? 'realtime is not started' : 'WEBSOCKETS_ENABLED is off');
      return running;
    };
    host.provide(realtime, {
      isEnabled,
      heartbeat: settings.heartbeat,
      accept: async (...upgrade) => requireRunning().accept(...upgrade),
      connect: async (options) => requireRunning().connect(options),
      metrics: () => requireRunning().metrics(),
    });
    host.contribute(commands, createRemoveTriggersCommand(used.rowFeed, isEnabled));
    if (!isEnabled) return;
    host.contribute(
      metricSources,
      createRealtimeMetricSource(() => running?.metrics()),
    );
    host.onStart(async () => {
      const { startRealtime } = await import('./start.ts');
      running = await startRealtime({ ...used, settings, events, log });
    });
    // The kernel emits it before it stops accepting connections: sockets would keep the server from closing.
    host.events.onAction('server.stop', () => running?.closeSockets());
    host.onStop(async () => running?.stop());
  },
});
