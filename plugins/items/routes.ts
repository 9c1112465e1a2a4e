import { fail } from '#kernel';
import { type AccessControl, PERMISSION_ACTIONS } from '../access/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { parsedQueryStringOf } from '../http/library.ts';
import { type SchemaService, SYSTEM_COLLECTION_PREFIX } from '../schema/contract.ts';
import { collectionRoutes } from './collection-routes.ts';
import type { ItemsEngine } from './contract.ts';
import type { ReadVerbs } from './read/read.ts';

interface ItemRouteDeps {
  readonly schema: SchemaService;
  readonly access: Pick<AccessControl, 'permissions'>;
}

/** `/items/<collection>` (specification, "Items endpoints"). */
export function itemRoutes(items: ItemsEngine, reads: ReadVerbs, { schema, access }: ItemRouteDeps): readonly Route[] {
  /**
   * Whether the path names a singleton; false for a caller without any permission on it, which gets the answer of a
   * collection that does not exist.
   */
  const isSingleton = async (ctx: HttpContext) => {
    const name = collectionNameOf(ctx);
    const { collections } = await schema.snapshot();
    if (!collections.get(name)?.singleton) return false;
    const { admin, of } = await access.permissions(ctx.state.caller);
    return admin || PERMISSION_ACTIONS.some((action) => of(name, action).length > 0);
  };
  return collectionRoutes(items, '/items/:collection', '', {
    collectionOf: collectionNameOf,
    about: { collection: '{collection}', plural: 'items of a collection', tag: 'items', holds: 'either' },
    isSingleton,
    async assertNotSingleton(ctx) {
      if (await isSingleton(ctx)) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    },
    readList: (caller, name, ctx, key) =>
      reads.readLong(caller, name, {
        query: () => parsedQueryStringOf(ctx),
        streaming: 'long',
        // A token in the query string would make each caller's text different, and keep it in memory.
        ...(ctx.querystring.includes('access_token') ? {} : { text: ctx.querystring }),
        ...(key === undefined ? {} : { key }),
      }),
  });
}

/** The collection in the path. System collections have paths of their own. */
function collectionNameOf(ctx: HttpContext): string {
  const name = ctx.params.collection ?? '';
  if (!name.startsWith(SYSTEM_COLLECTION_PREFIX)) return name;
  const reason = `Names that begin with ${SYSTEM_COLLECTION_PREFIX} are reserved for the service and not served at /items.`;
  throw fail('FORBIDDEN', `${name} is a system collection`, ctx.state.caller.admin ? { reason } : {});
}
