import { fail } from '#kernel';
import type { Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import type { CollectionCrud } from './collection-verbs.ts';
import { COLLECTION_ROUTE_DESCRIPTIONS } from './route-descriptions.ts';
import {
  assertAdmin,
  type CollectionRouteDeps,
  pathParameterOf,
  requireElementName,
  requireListBody,
} from './route-helpers.ts';

export function createCollectionRoutes(verbs: CollectionCrud, { writes }: CollectionRouteDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/collections',
      description: COLLECTION_ROUTE_DESCRIPTIONS.list,
      async handle(ctx) {
        const { caller } = ctx.state;
        const data = await verbs.list(caller);
        const unserved = await verbs.unservedTables(caller);
        sendData(ctx, data, unserved.length > 0 ? { unserved } : undefined);
      },
    },
    {
      method: 'SEARCH',
      path: '/collections',
      description: COLLECTION_ROUTE_DESCRIPTIONS.search,
      async handle(ctx) {
        const keys = parseKeys(bodyOf(ctx));
        sendData(ctx, keys ? await verbs.getMany(ctx.state.caller, keys) : await verbs.list(ctx.state.caller));
      },
    },
    {
      method: 'GET',
      path: '/collections/:collection',
      description: COLLECTION_ROUTE_DESCRIPTIONS.one,
      handle: async (ctx) => sendData(ctx, await verbs.get(ctx.state.caller, pathParameterOf(ctx, 'collection'))),
    },
    {
      method: 'POST',
      path: '/collections',
      description: COLLECTION_ROUTE_DESCRIPTIONS.create,
      async handle(ctx) {
        const { caller } = ctx.state;
        const body = bodyOf(ctx);
        if (!Array.isArray(body)) return sendData(ctx, await verbs.create(caller, body));
        assertAdmin(caller);
        const names = await writes.transaction(async () => {
          const created: string[] = [];
          for (const input of body) created.push(await writes.createCollection(caller, input));
          return created;
        });
        sendData(ctx, await verbs.getMany(caller, names));
      },
    },
    {
      method: 'PATCH',
      path: '/collections',
      description: COLLECTION_ROUTE_DESCRIPTIONS.updateMany,
      async handle(ctx) {
        const { caller } = ctx.state;
        assertAdmin(caller);
        const changes = requireListBody(ctx).map((input) => ({ name: requireElementName(input, 'collection'), input }));
        await writes.transaction(async () => {
          for (const { name, input } of changes) await writes.updateCollection(caller, name, input);
        });
        const names = changes.map(({ name }) => name);
        sendData(ctx, await verbs.getRemaining(caller, names));
      },
    },
    {
      method: 'PATCH',
      path: '/collections/:collection',
      description: COLLECTION_ROUTE_DESCRIPTIONS.update,
      handle: async (ctx) =>
        sendData(ctx, await verbs.update(ctx.state.caller, pathParameterOf(ctx, 'collection'), bodyOf(ctx))),
    },
    {
      method: 'DELETE',
      path: '/collections/:collection',
      description: COLLECTION_ROUTE_DESCRIPTIONS.remove,
      async handle(ctx) {
        await verbs.remove(ctx.state.caller, pathParameterOf(ctx, 'collection'));
        sendData(ctx, undefined);
      },
    },
  ];
}

/** Parses `{ keys }` of a SEARCH body; a `query` has no effect on this list. @throws INVALID_PAYLOAD */
function parseKeys(body: unknown): readonly string[] | undefined {
  const keys =
    typeof body === 'object' && body !== null && Object.hasOwn(body, 'keys')
      ? (body as { keys: unknown }).keys
      : undefined;
  if (keys === undefined) return undefined;
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string'))
    throw fail('INVALID_PAYLOAD', '"keys" must be a list of names.');
  return keys;
}
