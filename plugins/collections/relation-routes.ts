import type { Caller } from '#kernel';
import { bodyOf, type Route, sendData } from '../http/contract.ts';
import { relationRecord } from '../schema/contract.ts';
import { adminOnly, type Deps, segment } from './deps.ts';
import { visibleCollection, visibleRelation, visibleRelations, visibleTo } from './visible.ts';

export function relationRoutes(deps: Deps): readonly Route[] {
  const { writes } = deps;
  const visible = (caller: Caller) => visibleTo(caller, 'platform_relations', deps);
  const one = async (caller: Caller, collection: string, field: string) =>
    relationRecord(visibleRelation(await visible(caller), collection, field));

  return [
    {
      method: 'GET',
      path: '/relations',
      handle: async (ctx) => sendData(ctx, visibleRelations(await visible(ctx.state.caller)).map(relationRecord)),
    },
    {
      method: 'GET',
      path: '/relations/:collection',
      async handle(ctx) {
        const seen = await visible(ctx.state.caller);
        const { name } = visibleCollection(seen, segment(ctx, 'collection'));
        sendData(
          ctx,
          visibleRelations(seen)
            .filter(({ collection }) => collection === name)
            .map(relationRecord),
        );
      },
    },
    {
      method: 'GET',
      path: '/relations/:collection/:field',
      handle: async (ctx) =>
        sendData(ctx, await one(ctx.state.caller, segment(ctx, 'collection'), segment(ctx, 'field'))),
    },
    {
      method: 'POST',
      path: '/relations',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const { collection, field } = await writes.createRelation(caller, bodyOf(ctx));
        sendData(ctx, await one(caller, collection, field));
      },
    },
    {
      method: 'PATCH',
      path: '/relations/:collection/:field',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const [collection, field] = [segment(ctx, 'collection'), segment(ctx, 'field')];
        await writes.updateRelation(caller, collection, field, bodyOf(ctx));
        sendData(ctx, await one(caller, collection, field));
      },
    },
    {
      method: 'DELETE',
      path: '/relations/:collection/:field',
      async handle(ctx) {
        await writes.deleteRelation(ctx.state.caller, segment(ctx, 'collection'), segment(ctx, 'field'));
        sendData(ctx, undefined);
      },
    },
  ];
}
