import type { FreshDatabase } from '../../../test/support/database.ts';
import type { SpawnedService } from '../../../test/support/service.ts';
import type { BenchRequest } from '../bench-scenarios.ts';
import { createBenchAliasesAndEditor } from '../collection-setup.ts';
import type { BenchTarget } from '../compared-servers.ts';
import type { ForkedServer } from '../fork-server.ts';
import { spawnBenchService } from '../service-process.ts';
import type { GraphqlBenchScenario } from './graphql-bench-scenarios.ts';
import { startPostGraphile } from './postgraphile.ts';

export const GRAPHQL_CONTENDER_NAMES = ['GraphQL', 'REST, GET', 'REST, SEARCH', 'PostGraphile'] as const;
export type GraphqlContenderName = (typeof GRAPHQL_CONTENDER_NAMES)[number];

/**
 * One way to send a benchmark request: GraphQL, GET or SEARCH of the service, or PostGraphile. The three ways of the service
 * share one process and are measured one after the other.
 */
export interface GraphqlContender {
  readonly name: GraphqlContenderName;
  readonly target: BenchTarget;
  readonly headers: readonly string[];
  readonly ask: (shape: GraphqlBenchScenario, id: number) => BenchRequest;
}

export interface GraphqlContenders {
  readonly all: readonly GraphqlContender[];
  stop(): Promise<void>;
}

const post = (query: string, { table }: GraphqlBenchScenario, id: number): BenchRequest => ({
  method: 'POST',
  path: '/graphql',
  body: table ? { query, variables: { id } } : { query },
});

const ASKS: Readonly<Record<GraphqlContenderName, GraphqlContender['ask']>> = {
  GraphQL: (shape, id) => post(shape.document, shape, id),
  'REST, GET': ({ path }, id) => ({ method: 'GET', path: path.replace(':id', String(id)) }),
  'REST, SEARCH': ({ search }, id) => ({ method: 'SEARCH', path: '/items/article', body: search(id) }),
  PostGraphile: (shape, id) => post(shape.peer, shape, id),
};

/** Starts the service and, where it is among the names, PostGraphile over the same database. `profile`: a folder for CPU profiles. */
export async function startContenders(
  names: readonly GraphqlContenderName[],
  database: FreshDatabase,
  profile?: string,
): Promise<GraphqlContenders> {
  let peer: ForkedServer | undefined;
  let service: SpawnedService | undefined;
  const stop = async () => {
    await peer?.stop();
    await service?.stop();
  };
  try {
    // PostGraphile starts before the service creates its own tables, so that its schema holds only the tables of the benchmark.
    if (names.includes('PostGraphile')) peer = await startPostGraphile(database, profile);
    service = await spawnBenchService(database, profile);
    await createBenchAliasesAndEditor(service);
    const ours = {
      target: { url: new URL(service.url), pid: service.pid, application: 'tenon' },
      headers: [`Authorization: Bearer ${service.admin.token}`],
    };
    const theirs = peer && { target: { ...peer, application: 'postgraphile' }, headers: [] };
    const all = names.flatMap((name) => {
      const at = name === 'PostGraphile' ? theirs : ours;
      return at ? [{ name, ...at, ask: ASKS[name] }] : [];
    });
    return { all, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
