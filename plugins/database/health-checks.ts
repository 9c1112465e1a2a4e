import type { HealthCheck } from '../server/contract.ts';
import type { Connection } from './connection.ts';
import type { Statements } from './statements.ts';

const SLOW = 150;

export const healthChecks = (statements: Statements, connection: Pick<Connection, 'usage'>): readonly HealthCheck[] => [
  {
    name: 'pg:responseTime',
    componentType: 'datastore',
    threshold: SLOW,
    async check() {
      const start = performance.now();
      await statements.query('select 1');
      return { value: performance.now() - start };
    },
  },
  {
    name: 'pg:connectionsAvailable',
    componentType: 'datastore',
    check: async () => ({ value: connection.usage().available, unit: 'connections' }),
  },
  {
    name: 'pg:connectionsUsed',
    componentType: 'datastore',
    check: async () => ({ value: connection.usage().used, unit: 'connections' }),
  },
];
