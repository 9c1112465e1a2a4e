import type { Caller } from '#kernel';
import { bodyOf, type Route, sendData } from '../http/contract.ts';
import type { FieldRecord } from '../schema/contract.ts';
import { adminOnly, type Deps, listBody, nameIn, segment } from './deps.ts';
import {
  visibleCollection,
  visibleCollections,
  visibleField,
  visibleFields,
  visibleRecord,
  visibleTo,
} from './visible.ts';

export function fieldRoutes(deps: Deps): readonly Route[] {
  const { writes } = deps;
  const visible = (caller: Caller) => visibleTo(caller, 'platform_fields', deps);
  const one = async (caller: Caller, collection: string, name: string): Promise<FieldRecord> => {
    const seen = await visible(caller);
    return visibleRecord(seen, visibleField(seen, collection, name));
  };

  return [
    {
      method: 'GET',
      path: '/fields',
      async handle(ctx) {
        const seen = await visible(ctx.state.caller);
        const fields = visibleCollections(seen).flatMap((collection) => visibleFields(seen, collection));
        sendData(
          ctx,
          fields.map((field) => visibleRecord(seen, field)),
        );
      },
    },
    {
      method: 'GET',
      path: '/fields/:collection',
      async handle(ctx) {
        const seen = await visible(ctx.state.caller);
        const fields = visibleFields(seen, visibleCollection(seen, segment(ctx, 'collection')));
        sendData(
          ctx,
          fields.map((field) => visibleRecord(seen, field)),
        );
      },
    },
    {
      method: 'GET',
      path: '/fields/:collection/:field',
      handle: async (ctx) =>
        sendData(ctx, await one(ctx.state.caller, segment(ctx, 'collection'), segment(ctx, 'field'))),
    },
    {
      method: 'POST',
      path: '/fields/:collection',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const collection = segment(ctx, 'collection');
        sendData(ctx, await one(caller, collection, await writes.createField(caller, collection, bodyOf(ctx))));
      },
    },
    {
      method: 'PATCH',
      path: '/fields/:collection',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const collection = segment(ctx, 'collection');
        const changes = listBody(ctx).map((input) => ({ name: nameIn(input, 'field'), input }));
        await writes.unit(async () => {
          for (const { name, input } of changes) await writes.updateField(caller, collection, name, input);
        });
        const seen = await visible(caller);
        sendData(
          ctx,
          changes.map(({ name }) => visibleRecord(seen, visibleField(seen, collection, name))),
        );
      },
    },
    {
      method: 'PATCH',
      path: '/fields/:collection/:field',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const [collection, name] = [segment(ctx, 'collection'), segment(ctx, 'field')];
        await writes.updateField(caller, collection, name, bodyOf(ctx));
        sendData(ctx, await one(caller, collection, name));
      },
    },
    {
      method: 'DELETE',
      path: '/fields/:collection/:field',
      async handle(ctx) {
        await writes.deleteField(ctx.state.caller, segment(ctx, 'collection'), segment(ctx, 'field'));
        sendData(ctx, undefined);
      },
    },
  ];
}
