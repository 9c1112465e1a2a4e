import { getIntrospectionQuery } from 'graphql';
import { type FreshDatabase, freshDatabase } from '../../test/support/database.ts';
import { createLargeSchema } from '../../test/support/large-schema.ts';
import { type SpawnedService, spawnService } from '../../test/support/service.ts';
import { cpuByProcess, findServerProcesses } from './process-cpu-memory.ts';

const TABLES = [0, 300, 1000] as const;

/** The default costs of password hashing: a first start hashes the password of the first admin. */
const HASHES = { HASH_MEMORY_COST: '65536', HASH_TIME_COST: '3', HASH_PARALLELISM: '4' };

/** Wall-clock seconds, and seconds of CPU time of the service and of its database backends that still run. */
interface Cost {
  readonly clock: number;
  readonly processor: number;
}

const STEPS = [
  'first start',
  'fields by REST',
  'introspection by GraphQL',
  'OpenAPI document',
  'OpenAPI document, kept',
  'a new field',
  'introspection after it',
] as const;
type Step = (typeof STEPS)[number];

/**
 * Measures a first start on third-party databases with different numbers of tables, and then the requests that read the whole
 * schema. No cost may grow faster than the number of tables. The databases are as their migrations leave them: their catalogs are
 * not analysed.
 */
export async function* reportLargeDatabaseCosts(): AsyncGenerator<string> {
  yield `${'large database, s (s of processor time)'.padEnd(42)}${TABLES.map((tables) => `${tables} tables`.padStart(16)).join('')}  1000 : 300`;
  const costs: ReadonlyMap<Step, Cost>[] = [];
  for (const tables of TABLES) costs.push(await measured(tables));
  for (const step of STEPS) {
    const row = costs.map((one) => one.get(step));
    const figures = row.map((cost) =>
      (cost ? `${cost.clock.toFixed(2)} (${cost.processor.toFixed(2)})` : '').padStart(16),
    );
    const [, some, many] = row;
    const ratio = some && many ? (many.processor / some.processor).toFixed(1) : '';
    yield `${step.padEnd(42)}${figures.join('')}${ratio.padStart(12)}`;
  }
}

async function measured(tables: number): Promise<ReadonlyMap<Step, Cost>> {
  const database = await freshDatabase('large');
  try {
    await createLargeSchema(database, tables);
    const since = performance.now();
    const service = await spawnService({ database, env: { LOG_LEVEL: 'warn', ...HASHES } });
    try {
      const clock = (performance.now() - since) / 1000;
      const costs = new Map<Step, Cost>([['first start', { clock, processor: await processorOf(service, database) }]]);
      if (tables === 0) return costs;
      const introspection = { body: { query: getIntrospectionQuery() } };
      const field = { body: { field: 'added', type: 'string', schema: {} } };
      costs.set('fields by REST', await costOf(service, database, 'GET', '/fields'));
      costs.set('introspection by GraphQL', await costOf(service, database, 'POST', '/graphql', introspection));
      costs.set('OpenAPI document', await costOf(service, database, 'GET', '/server/specs/oas'));
      costs.set('OpenAPI document, kept', await costOf(service, database, 'GET', '/server/specs/oas'));
      costs.set('a new field', await costOf(service, database, 'POST', '/fields/entity_0001', field));
      costs.set('introspection after it', await costOf(service, database, 'POST', '/graphql', introspection));
      return costs;
    } finally {
      await service.stop();
    }
  } finally {
    await database.drop();
  }
}

async function costOf(
  service: SpawnedService,
  database: FreshDatabase,
  method: string,
  path: string,
  options: { readonly body?: unknown } = {},
): Promise<Cost> {
  const before = await processorOf(service, database);
  const since = performance.now();
  const { status } = await service.request(method, path, { token: service.admin.token, ...options });
  const clock = (performance.now() - since) / 1000;
  if (status !== 200) throw new Error(`${method} ${path} answers ${status}`);
  return { clock, processor: (await processorOf(service, database)) - before };
}

async function processorOf({ pid }: SpawnedService, database: FreshDatabase): Promise<number> {
  const { server, backends } = await findServerProcesses(pid, 'tenon', database);
  const used = [...cpuByProcess([server, ...backends]).values()];
  return used.reduce((sum, ms) => sum + ms, 0) / 1000;
}
