import { definePlugin } from '#kernel';
import { databaseObservers } from '../database/contract.ts';
import { requestObservers } from '../http/contract.ts';
import { outboundObservers } from '../outbound/contract.ts';
import { queueObservers } from '../queue/contract.ts';
import { type OperationObserver, otlpMetricsExport } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseTelemetrySettings, type TelemetryConfig } from './settings.ts';
import type { Tracing } from './tracing.ts';

export default definePlugin<TelemetryConfig>({
  manifest,
  register(host) {
    const { config, log } = host;
    const { isDisabled, resource, metrics, traces } = parseTelemetrySettings(config);
    host.provide(otlpMetricsExport, {
      isDisabled,
      resource,
      connection: metrics,
      startDiagnosticLog: async (to) => (await import('./diagnostic-log.ts')).addDiagnosticLog(to),
    });
    if (!traces) return;

    let tracing: Tracing | undefined;
    // Statements of other plugins that start before this one are not traced.
    const operations: OperationObserver = {
      run: (operation, work) => (tracing ? tracing.operations.run(operation, work) : work()),
    };
    host.contribute(requestObservers, { begin: (ctx) => tracing?.requests.begin(ctx) ?? { end() {} } });
    host.contribute(databaseObservers, operations);
    host.contribute(outboundObservers, operations);
    host.contribute(queueObservers, operations);
    host.contribute<OperationObserver>('sandbox.observers', operations);
    host.onStart(async () => {
      // Loads the libraries of OpenTelemetry.
      const { startTracing } = await import('./tracing.ts');
      tracing = await startTracing({ settings: traces, resource, log });
      // User, password and query of the address may be secrets.
      const { origin, pathname } = new URL(traces.connection.url);
      log.info({ url: origin + pathname }, 'traces are exported');
    });
    host.onStop(async () => {
      const running = tracing;
      tracing = undefined;
      await running?.stop();
    });
  },
});
