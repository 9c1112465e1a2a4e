import type { Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import type { RelationCrud } from './relation-verbs.ts';
import { RELATION_ROUTE_DESCRIPTIONS } from './route-descriptions.ts';
import { pathParameterOf } from './route-helpers.ts';

export function createRelationRoutes(verbs: RelationCrud): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/relations',
      description: RELATION_ROUTE_DESCRIPTIONS.list,
      handle: async (ctx) => sendData(ctx, await verbs.list(ctx.state.caller)),
    },
    {
      method: 'GET',
      path: '/relations/:collection',
      description: RELATION_ROUTE_DESCRIPTIONS.of,
      handle: async (ctx) => sendData(ctx, await verbs.listOf(ctx.state.caller, pathParameterOf(ctx, 'collection'))),
    },
    {
      method: 'GET',
      path: '/relations/:collection/:field',
      description: RELATION_ROUTE_DESCRIPTIONS.one,
      handle: async (ctx) =>
        sendData(
          ctx,
          await verbs.get(ctx.state.caller, pathParameterOf(ctx, 'collection'), pathParameterOf(ctx, 'field')),
        ),
    },
    {
      method: 'POST',
      path: '/relations',
      description: RELATION_ROUTE_DESCRIPTIONS.create,
      handle: async (ctx) => sendData(ctx, await verbs.create(ctx.state.caller, bodyOf(ctx))),
    },
    {
      method: 'PATCH',
      path: '/relations/:collection/:field',
      description: RELATION_ROUTE_DESCRIPTIONS.update,
      async handle(ctx) {
        const [collection, field] = [pathParameterOf(ctx, 'collection'), pathParameterOf(ctx, 'field')];
        sendData(ctx, await verbs.update(ctx.state.caller, collection, field, bodyOf(ctx)));
      },
    },
    {
      method: 'DELETE',
      path: '/relations/:collection/:field',
      description: RELATION_ROUTE_DESCRIPTIONS.remove,
      async handle(ctx) {
        await verbs.remove(ctx.state.caller, pathParameterOf(ctx, 'collection'), pathParameterOf(ctx, 'field'));
        sendData(ctx, undefined);
      },
    },
  ];
}
