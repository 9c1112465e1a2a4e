import type { MetricDescription, MetricSource } from '../metrics/contract.ts';
import type { RealtimeMetrics } from './contract.ts';

type Read = (now: RealtimeMetrics) => number;
type Metric = readonly [kind: MetricDescription['kind'], help: string, read: Read];

const METRICS: Readonly<Record<string, Metric>> = {
  connections: ['gauge', 'Clients that are connected, of all transports.', (now) => now.connections],
  subscriptions: ['gauge', 'Subscriptions of connected clients.', (now) => now.subscriptions],
  groups: ['gauge', 'Different questions: subscriptions with equal rights and query are one.', (now) => now.groups],
  lag_seconds: [
    'gauge',
    'From the announcement of the latest change to its last delivery.',
    (now) => now.lag.last / 1000,
  ],
  changes_total: ['counter', 'Announced changes, by statement.', (now) => now.changes],
  reads_total: ['counter', 'Statements that read changed rows.', (now) => now.reads],
  deliveries_total: ['counter', 'Deliveries to subscriptions.', (now) => now.deliveries],
  resyncs_total: ['counter', 'Subscriptions that had to read again.', (now) => now.resyncs],
  drops_total: ['counter', 'Clients that were closed because they were too slow.', (now) => now.drops],
  refusals_total: ['counter', 'Connections that were refused.', (now) => now.refusals],
};

const mapMetrics = <T>(to: (metric: Metric) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(METRICS).map(([name, metric]) => [`realtime_${name}`, to(metric)]));

/** What clients that stay connected cost, and how far behind they are. Nothing before the engine runs. */
export const createRealtimeMetricSource = (counts: () => RealtimeMetrics | undefined): MetricSource => ({
  service: 'realtime',
  metrics: mapMetrics(([kind, help]) => ({ kind, help })),
  collect() {
    const now = counts();
    return now ? mapMetrics(([, , read]) => [{ value: read(now) }]) : {};
  },
});
