import { fail } from '#kernel';
import { type HttpContext, type Route, rawQueryOf } from '../http/contract.ts';
import { type Schema, SYSTEM_PREFIX } from '../schema/contract.ts';
import { collectionRoutes } from './collection-routes.ts';
import type { Items } from './contract.ts';
import type { Reads } from './read/read.ts';

/** `/items/<collection>` (specification, "Items endpoints"). */
export function itemRoutes(items: Items, reads: Reads, schema: Schema): readonly Route[] {
  const isSingleton = async (ctx: HttpContext) => {
    const { collections } = await schema.overview();
    return collections.get(nameOf(ctx))?.singleton ?? false;
  };
  return collectionRoutes(items, '/items/:collection', '', {
    collectionOf: nameOf,
    isSingleton,
    async refuseSingleton(ctx) {
      if (await isSingleton(ctx)) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    },
    readList: (caller, name, ctx, key) =>
      reads.answer(caller, name, {
        query: () => rawQueryOf(ctx),
        inParts: 'long',
        // A token in the query string would make every caller's text a different one, and keep it in memory.
        ...(ctx.querystring.includes('access_token') ? {} : { text: ctx.querystring }),
        ...(key === undefined ? {} : { key }),
      }),
  });
}

/** System collections have paths of their own. */
function nameOf(ctx: HttpContext): string {
  const name = ctx.params.collection ?? '';
  if (name.startsWith(SYSTEM_PREFIX)) throw fail('FORBIDDEN', `${name} is a system collection`);
  return name;
}
