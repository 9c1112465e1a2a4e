import type { MetricSource } from '../metrics/contract.ts';
import type { JobList } from './job-list.ts';
import type { JobStore } from './job-store.ts';

const STATES = ['waiting', 'running', 'failed'] as const;

/** Jobs of all processes, counted in the database by METRICS_SCHEDULE. */
export const createQueueMetricSource = (
  store: Pick<JobStore, 'isInstalled'>,
  list: Pick<JobList, 'counts'>,
): MetricSource => ({
  service: 'queue',
  collected: 'schedule',
  metrics: {
    queue_jobs: {
      kind: 'gauge',
      help: 'Background jobs of all processes by queue and state; failed are dead letters.',
    },
    queue_oldest_waiting_seconds: { kind: 'gauge', help: 'Time for which the oldest due job of a queue has waited.' },
  },
  async collect() {
    const counts = (await store.isInstalled()) ? await list.counts() : [];
    return {
      queue_jobs: counts.flatMap((one) =>
        STATES.map((state) => ({ labels: { queue: one.queue, state }, value: one[state] })),
      ),
      queue_oldest_waiting_seconds: counts.map(({ queue, oldest_waiting: oldest }) => ({
        labels: { queue },
        value: oldest === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1000),
      })),
    };
  },
});
