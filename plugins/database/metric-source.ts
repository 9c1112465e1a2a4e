import type { MetricSource } from '../metrics/contract.ts';
import type { PoolSlotSemaphore } from './pool-slot-semaphore.ts';

/** The pool of connections. */
export const createPoolMetricSource = (
  slots: Pick<PoolSlotSemaphore, 'held' | 'waiting' | 'longestWait' | 'refusals'>,
  max: number,
): MetricSource => ({
  service: 'database',
  metrics: {
    database_connections_max: { kind: 'gauge', help: 'Connections that the pool may have (DB_POOL_MAX).' },
    database_connections_in_use: {
      kind: 'gauge',
      help: 'Connections of the pool that run a statement or a transaction.',
    },
    database_statements_waiting: { kind: 'gauge', help: 'Statements that wait for a connection.' },
    database_longest_wait_seconds: { kind: 'gauge', help: 'Time for which the oldest of them has waited.' },
    database_refusals_total: { kind: 'counter', help: 'Statements that got no connection in time.' },
  },
  collect: () => ({
    database_connections_max: [{ value: max }],
    database_connections_in_use: [{ value: slots.held }],
    database_statements_waiting: [{ value: slots.waiting }],
    database_longest_wait_seconds: [{ value: slots.longestWait() / 1000 }],
    database_refusals_total: [{ value: slots.refusals }],
  }),
});
