import type { MetricSamples, MetricSource } from '../metrics/contract.ts';
import type { RealtimeMetrics } from './contract.ts';

/** What clients that stay connected cost, and how far behind they are. Nothing before the engine runs. */
export const createRealtimeMetricSource = (counts: () => RealtimeMetrics | undefined): MetricSource => ({
  service: 'realtime',
  metrics: {
    realtime_connections: { kind: 'gauge', help: 'Clients that are connected, of all transports.' },
    realtime_subscriptions: { kind: 'gauge', help: 'Subscriptions of connected clients.' },
    realtime_groups: { kind: 'gauge', help: 'Different questions: subscriptions with equal rights and query are one.' },
    realtime_lag_seconds: { kind: 'gauge', help: 'From the announcement of the latest change to its last delivery.' },
    realtime_changes_total: { kind: 'counter', help: 'Announced changes, by statement.' },
    realtime_reads_total: { kind: 'counter', help: 'Statements that read changed rows.' },
    realtime_deliveries_total: { kind: 'counter', help: 'Deliveries to subscriptions.' },
    realtime_resyncs_total: { kind: 'counter', help: 'Subscriptions that had to read again.' },
    realtime_drops_total: { kind: 'counter', help: 'Clients that were closed because they were too slow.' },
    realtime_refusals_total: { kind: 'counter', help: 'Connections that were refused.' },
  },
  collect(): MetricSamples {
    const now = counts();
    if (!now) return {};
    const one = (value: number) => [{ value }];
    return {
      realtime_connections: one(now.connections),
      realtime_subscriptions: one(now.subscriptions),
      realtime_groups: one(now.groups),
      realtime_lag_seconds: one(now.lag.last / 1000),
      realtime_changes_total: one(now.changes),
      realtime_reads_total: one(now.reads),
      realtime_deliveries_total: one(now.deliveries),
      realtime_resyncs_total: one(now.resyncs),
      realtime_drops_total: one(now.drops),
      realtime_refusals_total: one(now.refusals),
    };
  },
});
