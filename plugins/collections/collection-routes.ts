import { type Caller, fail } from '#kernel';
import { bodyOf, type Route, sendData } from '../http/contract.ts';
import { type CollectionRecord, collectionRecord } from '../schema/contract.ts';
import { adminOnly, type Deps, listBody, nameIn, segment } from './deps.ts';
import { visibleCollection, visibleCollections, visibleTo } from './visible.ts';

export function collectionRoutes(deps: Deps): readonly Route[] {
  const { writes } = deps;
  const visible = (caller: Caller) => visibleTo(caller, 'platform_collections', deps);
  const list = async (caller: Caller) => visibleCollections(await visible(caller)).map(collectionRecord);
  const one = async (caller: Caller, name: string) => collectionRecord(visibleCollection(await visible(caller), name));
  const some = async (caller: Caller, names: readonly string[]): Promise<readonly CollectionRecord[]> => {
    const seen = await visible(caller);
    return names.map((name) => collectionRecord(visibleCollection(seen, name)));
  };

  return [
    {
      method: 'GET',
      path: '/collections',
      handle: async (ctx) => sendData(ctx, await list(ctx.state.caller)),
    },
    {
      method: 'SEARCH',
      path: '/collections',
      async handle(ctx) {
        const keys = keysOf(bodyOf(ctx));
        sendData(ctx, keys ? await some(ctx.state.caller, keys) : await list(ctx.state.caller));
      },
    },
    {
      method: 'GET',
      path: '/collections/:collection',
      handle: async (ctx) => sendData(ctx, await one(ctx.state.caller, segment(ctx, 'collection'))),
    },
    {
      method: 'POST',
      path: '/collections',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const body = bodyOf(ctx);
        if (!Array.isArray(body)) return sendData(ctx, await one(caller, await writes.createCollection(caller, body)));
        const names = await writes.unit(async () => {
          const made: string[] = [];
          for (const input of body) made.push(await writes.createCollection(caller, input));
          return made;
        });
        sendData(ctx, await some(caller, names));
      },
    },
    {
      method: 'PATCH',
      path: '/collections',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const changes = listBody(ctx).map((input) => ({ name: nameIn(input, 'collection'), input }));
        await writes.unit(async () => {
          for (const { name, input } of changes) await writes.updateCollection(caller, name, input);
        });
        const there = (await visible(caller)).overview.collections;
        sendData(
          ctx,
          await some(
            caller,
            changes.map(({ name }) => name).filter((name) => there.has(name)),
          ),
        );
      },
    },
    {
      method: 'PATCH',
      path: '/collections/:collection',
      async handle(ctx) {
        const { caller } = ctx.state;
        adminOnly(caller);
        const name = segment(ctx, 'collection');
        await writes.updateCollection(caller, name, bodyOf(ctx));
        // A folder that was forgotten is nothing any more.
        const isThere = (await visible(caller)).overview.collections.has(name);
        sendData(ctx, isThere ? await one(caller, name) : undefined);
      },
    },
    {
      method: 'DELETE',
      path: '/collections/:collection',
      async handle(ctx) {
        await writes.deleteCollection(ctx.state.caller, segment(ctx, 'collection'));
        sendData(ctx, undefined);
      },
    },
  ];
}

/** `SEARCH` takes `{ keys }`; a query changes nothing about this list. */
function keysOf(body: unknown): readonly string[] | undefined {
  const keys =
    typeof body === 'object' && body !== null && Object.hasOwn(body, 'keys')
      ? (body as { keys: unknown }).keys
      : undefined;
  if (keys === undefined) return undefined;
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string'))
    throw fail('INVALID_PAYLOAD', '"keys" must be a list of names.');
  return keys;
}
