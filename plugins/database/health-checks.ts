import type { HealthCheck } from '../server/contract.ts';
import type { DatabaseConnection } from './connection.ts';
import type { Statements } from './statements.ts';

/** Milliseconds that a statement may wait for a connection before the pool counts as too small: less is a busy service. */
const LONG_WAIT = 500;
/** Milliseconds after a refusal in which the pool counts as too small. */
const RECENT_REFUSAL = 10_000;

interface HealthCheckDeps {
  readonly statements: Statements;
  readonly connection: Pick<DatabaseConnection, 'slots' | 'connectOutsidePool'>;
  /** Connections of the pool. */
  readonly max: number;
  /** Milliseconds above which the database counts as slow. */
  readonly threshold: number;
}

export function createHealthChecks({
  statements,
  connection,
  max,
  threshold,
}: HealthCheckDeps): readonly HealthCheck[] {
  const { slots } = connection;

  /** Whether the database answers is not the same as whether a connection is free: with none, it is asked on one more. */
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
