import type { HealthCheck } from '../server/contract.ts';
import type { DatabaseConnectionPool } from './managed-pool.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';

/** Milliseconds that a statement may wait for a connection before the pool counts as too small. */
const LONG_WAIT = 500;
/** Milliseconds for which the pool counts as too small after it refused a statement. */
const RECENT_REFUSAL = 10_000;

interface HealthCheckDeps {
  readonly statements: LeasedConnectionStatementRunner;
  readonly connection: Pick<DatabaseConnectionPool, 'connectOutsidePool'> & {
    readonly slots: Omit<DatabaseConnectionPool['slots'], 'refusals'>;
  };
  /** DB_POOL_MAX. */
  readonly max: number;
  /** Milliseconds: DB_HEALTHCHECK_THRESHOLD. */
  readonly threshold: number;
}

export function createHealthChecks({
  statements,
  connection,
  max,
  threshold,
}: HealthCheckDeps): readonly HealthCheck[] {
  const { slots } = connection;

  /** A full pool is no sign of a slow database: with no free connection the check opens one more. */
  async function ping(): Promise<void> {
    if (slots.held < max) return void (await statements.query('select 1'));
    const client = await connection.connectOutsidePool();
    await client.query('select 1').finally(() => client.end());
  }

  const isPoolTooSmall = (): boolean =>
    slots.longestWait() > LONG_WAIT || Date.now() - slots.refusedAt < RECENT_REFUSAL;
  return [
    {
      name: 'pg:responseTime',
      componentType: 'datastore',
      threshold,
      async check() {
        const start = performance.now();
        await ping();
        return { value: performance.now() - start };
      },
    },
    {
      name: 'pg:connectionsAvailable',
      componentType: 'datastore',
      check: async () => ({ value: max - slots.held, unit: 'connections' }),
    },
    {
      name: 'pg:connectionsUsed',
      componentType: 'datastore',
      check: async () => ({ value: slots.held, unit: 'connections' }),
    },
    {
      name: 'pg:connectionsWaiting',
      componentType: 'datastore',
      check: async () => ({
        value: slots.waiting,
        unit: 'statements',
        status: isPoolTooSmall() ? 'warn' : 'ok',
      }),
    },
  ];
}
