import type { Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import { pathSegment } from './deps.ts';
import { RELATIONS } from './descriptions.ts';
import type { RelationVerbs } from './relation-verbs.ts';

export function createRelationRoutes(verbs: RelationVerbs): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/relations',
      description: RELATIONS.list,
      handle: async (ctx) => sendData(ctx, await verbs.list(ctx.state.caller)),
    },
    {
      method: 'GET',
      path: '/relations/:collection',
      description: RELATIONS.of,
      handle: async (ctx) => sendData(ctx, await verbs.listOf(ctx.state.caller, pathSegment(ctx, 'collection'))),
    },
    {
      method: 'GET',
      path: '/relations/:collection/:field',
      description: RELATIONS.one,
      handle: async (ctx) =>
        sendData(ctx, await verbs.get(ctx.state.caller, pathSegment(ctx, 'collection'), pathSegment(ctx, 'field'))),
    },
    {
      method: 'POST',
      path: '/relations',
      description: RELATIONS.create,
      handle: async (ctx) => sendData(ctx, await verbs.create(ctx.state.caller, bodyOf(ctx))),
    },
    {
      method: 'PATCH',
      path: '/relations/:collection/:field',
      description: RELATIONS.update,
      async handle(ctx) {
        const [collection, field] = [pathSegment(ctx, 'collection'), pathSegment(ctx, 'field')];
        sendData(ctx, await verbs.update(ctx.state.caller, collection, field, bodyOf(ctx)));
      },
    },
    {
      method: 'DELETE',
      path: '/relations/:collection/:field',
      description: RELATIONS.remove,
      async handle(ctx) {
        await verbs.remove(ctx.state.caller, pathSegment(ctx, 'collection'), pathSegment(ctx, 'field'));
        sendData(ctx, undefined);
      },
    },
  ];
}
