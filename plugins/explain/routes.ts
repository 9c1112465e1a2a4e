import { fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, parsedQueryStringOf, sendData } from '../http/library.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { RawQuery } from '../query/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import { findMissingForeignKeyIndexes } from './missing-indexes.ts';
import {
  EXPLAIN_LIST_ROUTE_DESCRIPTION,
  EXPLAIN_ROW_ROUTE_DESCRIPTION,
  EXPLAIN_SEARCH_ROUTE_DESCRIPTION,
  MISSING_INDEXES_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

interface Deps {
  readonly items: ItemsEngine;
  readonly schema: SchemaService;
}

/**
 * The routes that show the statement and the plan of a read. For admins only: a plan shows tables, their sizes and row
 * rules.
 */
export function createExplainRoutes({ items, schema }: Deps): readonly Route[] {
  async function explain(ctx: HttpContext, query: RawQuery): Promise<void> {
    const { collection = '', id } = ctx.params;
    sendData(ctx, await items.explain(ctx.state.caller, collection, query, id));
  }
  const routes: readonly Route[] = [
    {
      method: 'GET',
      path: '/explain',
      description: MISSING_INDEXES_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, { missing_indexes: findMissingForeignKeyIndexes(await schema.refresh()) }),
    },
    {
      method: 'GET',
      path: '/explain/:collection',
      description: EXPLAIN_LIST_ROUTE_DESCRIPTION,
      handle: (ctx) => explain(ctx, parsedQueryStringOf(ctx)),
    },
    {
      method: 'GET',
      path: '/explain/:collection/:id',
      description: EXPLAIN_ROW_ROUTE_DESCRIPTION,
      handle: (ctx) => explain(ctx, parsedQueryStringOf(ctx)),
    },
    {
      method: 'SEARCH',
      path: '/explain/:collection',
      description: EXPLAIN_SEARCH_ROUTE_DESCRIPTION,
      handle: (ctx) => explain(ctx, queryIn(bodyOf(ctx))),
    },
  ];
  return routes.map((route) => ({
    ...route,
    handle(ctx) {
      if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'only admins may look at plans');
      return route.handle(ctx);
    },
  }));
}

/** The query of a `EXPLAIN_SEARCH_ROUTE_DESCRIPTION` body, `{ query }`. */
function queryIn(body: unknown): RawQuery {
  const { query } = (body ?? {}) as { query?: unknown };
  if (query === undefined) return {};
  if (typeof query === 'object' && query !== null && !Array.isArray(query)) return query as RawQuery;
  throw fail('INVALID_PAYLOAD', '"query" must be an object', { path: ['query'] });
}
