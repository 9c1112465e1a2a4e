import { BootFailure, definePlugin } from '#kernel';
import { databaseObservers } from '../database/contract.ts';
import { requestObservers, routes } from '../http/contract.ts';
import { outboundObservers } from '../outbound/contract.ts';
import { queueObservers } from '../queue/contract.ts';
import { type ScheduledJobHandle, schedule } from '../schedule/contract.ts';
import { type OperationObserver, otlpMetricsExport } from '../telemetry/contract.ts';
import { MetricsCollector } from './collector.ts';
import { metricSources } from './contract.ts';
import { createOperationMetrics } from './operation-metrics.ts';
import manifest from './package.json' with { type: 'json' };
import { createProcessMeasurement } from './process-source.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { createMetricsRoute } from './route.ts';
import { type MetricsConfig, parseMetricsSettings } from './settings.ts';

/** Characters from which on a token cannot be guessed. */
const MIN_TOKEN_LENGTH = 16;

export default definePlugin<MetricsConfig>({
  manifest,
  register(host) {
    const { log } = host;
    const used = host.use({ otlp: otlpMetricsExport, schedule });
    const { isServed, tokens, services, prefix, maxSeries, push, ...settings } = parseMetricsSettings(host.config);
    host.define(metricSources);
    const isPushed = push !== undefined && !used.otlp.isDisabled;
    if (!isServed && !isPushed) return;

    if (!used.schedule.isPattern(settings.schedule))
      throw new BootFailure(manifest.name, 'config', `METRICS_SCHEDULE is no cron expression: ${settings.schedule}`, {
        remedy: 'correct METRICS_SCHEDULE, for example to */1 * * * *',
      });
    if (tokens.some(({ length }) => length < MIN_TOKEN_LENGTH))
      log.warn(`a token of METRICS_TOKENS has fewer than ${MIN_TOKEN_LENGTH} characters, and can be guessed`);
    const collector = new MetricsCollector({
      sources: () => host.read(metricSources),
      services,
      prefix,
      maxSeries,
      log,
    });
    // One series of each is that of all further ones.
    const requests = createRequestMetrics(maxSeries - 1);
    const operations = createOperationMetrics(maxSeries - 1);
    const measurement = createProcessMeasurement();
    const isMeasured = (service: string) => services?.has(service) ?? true;
    if (isMeasured('http')) host.contribute(requestObservers, requests.observer);
    if (isMeasured('database')) host.contribute(databaseObservers, operations.observer);
    if (isMeasured('outbound')) host.contribute(outboundObservers, operations.observer);
    if (isMeasured('queue')) host.contribute(queueObservers, operations.observer);
    if (isMeasured('sandbox')) host.contribute<OperationObserver>('sandbox.observers', operations.observer);
    for (const source of [requests.source, measurement.source, ...operations.sources, collector.source])
      host.contribute(metricSources, source);
    if (isServed) host.contribute(routes, createMetricsRoute(tokens, collector));

    let job: ScheduledJobHandle | undefined;
    const stops: (() => Promise<void> | void)[] = [];
    host.onStart(async () => {
      if (isMeasured('process')) {
        measurement.start();
        stops.push(measurement.stop);
      }
      const unknown = collector.unknownServices();
      if (unknown.length > 0) log.warn(`METRICS_SERVICES names what no plugin measures: ${unknown.join(', ')}`);
      job = used.schedule.start({
        name: 'metrics that take a statement or a check',
        at: settings.schedule,
        scope: 'process',
        log,
        run: () => collector.refresh(),
      });
      if (!push || !isPushed) return;
      const { startOtlpExport } = await import('./otlp-export.ts');
      stops.push((await startOtlpExport({ ...used.otlp, ...push, collector, log })).stop);
    });
    host.onStop(async () => {
      await job?.stop();
      for (const stop of stops) await stop();
    });
  },
});
