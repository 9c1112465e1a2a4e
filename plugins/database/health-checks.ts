import type { HealthCheck } from '../server/contract.ts';
import type { Connection } from './connection.ts';
import type { Statements } from './statements.ts';

/** Milliseconds that a statement may wait for a connection before the pool counts as too small: less is a busy service. */
const LONG_WAIT = 500;
/** Milliseconds after a refusal in which the pool counts as too small. */
const RECENT = 10_000;

interface Deps {
  readonly statements: Statements;
  readonly connection: Pick<Connection, 'places' | 'alone'>;
  /** Connections of the pool. */
  readonly max: number;
  /** Milliseconds above which the database counts as slow. */
  readonly threshold: number;
}

export function healthChecks({ statements, connection, max, threshold }: Deps): readonly HealthCheck[] {
  const { places } = connection;

  /** Whether the database answers is not the same as whether a connection is free: with none, it is asked on one more. */
  async function ask(): Promise<void> {
    if (places.held < max) return void (await statements.query('select 1'));
    const client = await connection.alone();
    await client.query('select 1').finally(() => client.end());
  }

  const isShort = (): boolean => places.longestWait() > LONG_WAIT || Date.now() - places.refusedAt < RECENT;
  return [
    {
      name: 'pg:responseTime',
      componentType: 'datastore',
      threshold,
      async check() {
        const start = performance.now();
        await ask();
        return { value: performance.now() - start };
      },
    },
    {
      name: 'pg:connectionsAvailable',
      componentType: 'datastore',
      check: async () => ({ value: max - places.held, unit: 'connections' }),
    },
    {
      name: 'pg:connectionsUsed',
      componentType: 'datastore',
      check: async () => ({ value: places.held, unit: 'connections' }),
    },
    {
      name: 'pg:connectionsWaiting',
      componentType: 'datastore',
      check: async () => ({
        value: places.waiting,
        unit: 'statements',
        status: isShort() ? 'warn' : 'ok',
      }),
    },
  ];
}
