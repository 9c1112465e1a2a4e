import type { Db } from '../../../plugins/database/contract.ts';
import type { QueryEngine } from '../../../plugins/query/contract.ts';
import queryPlugin from '../../../plugins/query/index.ts';
import type { FreshDatabase } from '../../support/database.ts';

/** Limits of queries in tests: names in a path, nodes of a query, default `limit`, and largest `limit` (-1: none). */
export const TEST_QUERY_CEILINGS = { depth: 10, nodes: 2000, limitDefault: 100, limitMax: -1 };
export type TestQueryCeilings = Readonly<typeof TEST_QUERY_CEILINGS>;

type Host = Parameters<typeof queryPlugin.register>[0];

/** Creates the service `query` without a kernel. Without a database it parses and compiles, but runs nothing. */
export function createQueryEngine(
  ceilings = TEST_QUERY_CEILINGS as TestQueryCeilings,
  database?: FreshDatabase,
): QueryEngine {
  const provided = new Map<string, unknown>();
  queryPlugin.register({
    config: {
      QUERY_LIMIT_DEFAULT: ceilings.limitDefault,
      QUERY_LIMIT_MAX: ceilings.limitMax,
      MAX_RELATIONAL_DEPTH: ceilings.depth,
      QUERY_MAX_NODES: ceilings.nodes,
      QUERY_SLOW_MS: 0,
    },
    db: {
      async first(text, params) {
        const [row] = (await database?.query(text as string, params)) ?? [];
        return row && (Object.values(row) as (string | null)[]);
      },
    } satisfies Pick<Db, 'first'>,
    provide: (service, value) => void provided.set(service.id, value),
  } as Pick<Host, 'config' | 'provide'> as Host);
  return provided.get('query') as QueryEngine;
}
