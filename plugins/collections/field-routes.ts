import type { Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import type { FieldCrud } from './field-verbs.ts';
import { FIELD_ROUTE_DESCRIPTIONS } from './route-descriptions.ts';
import {
  assertAdmin,
  type CollectionRouteDeps,
  pathParameterOf,
  requireElementName,
  requireListBody,
} from './route-helpers.ts';

export function createFieldRoutes(verbs: FieldCrud, { writes }: CollectionRouteDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/fields',
      description: FIELD_ROUTE_DESCRIPTIONS.list,
      handle: async (ctx) => sendData(ctx, await verbs.list(ctx.state.caller)),
    },
    {
      method: 'GET',
      path: '/fields/:collection',
      description: FIELD_ROUTE_DESCRIPTIONS.of,
      handle: async (ctx) => sendData(ctx, await verbs.listOf(ctx.state.caller, pathParameterOf(ctx, 'collection'))),
    },
    {
      method: 'GET',
      path: '/fields/:collection/:field',
      description: FIELD_ROUTE_DESCRIPTIONS.one,
      handle: async (ctx) =>
        sendData(
          ctx,
          await verbs.get(ctx.state.caller, pathParameterOf(ctx, 'collection'), pathParameterOf(ctx, 'field')),
        ),
    },
    {
      method: 'POST',
      path: '/fields/:collection',
      description: FIELD_ROUTE_DESCRIPTIONS.create,
      handle: async (ctx) =>
        sendData(ctx, await verbs.create(ctx.state.caller, pathParameterOf(ctx, 'collection'), bodyOf(ctx))),
    },
    {
      method: 'PATCH',
      path: '/fields/:collection',
      description: FIELD_ROUTE_DESCRIPTIONS.updateMany,
      async handle(ctx) {
        const { caller } = ctx.state;
        assertAdmin(caller);
        const collection = pathParameterOf(ctx, 'collection');
        const changes = requireListBody(ctx).map((input) => ({ name: requireElementName(input, 'field'), input }));
        await writes.transaction(async () => {
          for (const { name, input } of changes) await writes.updateField(caller, collection, name, input);
        });
        const names = changes.map(({ name }) => name);
        sendData(ctx, await verbs.getMany(caller, collection, names));
      },
    },
    {
      method: 'PATCH',
      path: '/fields/:collection/:field',
      description: FIELD_ROUTE_DESCRIPTIONS.update,
      async handle(ctx) {
        const [collection, name] = [pathParameterOf(ctx, 'collection'), pathParameterOf(ctx, 'field')];
        sendData(ctx, await verbs.update(ctx.state.caller, collection, name, bodyOf(ctx)));
      },
    },
    {
      method: 'DELETE',
      path: '/fields/:collection/:field',
      description: FIELD_ROUTE_DESCRIPTIONS.remove,
      async handle(ctx) {
        await verbs.remove(ctx.state.caller, pathParameterOf(ctx, 'collection'), pathParameterOf(ctx, 'field'));
        sendData(ctx, undefined);
      },
    },
  ];
}
