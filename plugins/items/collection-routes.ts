import type { Caller } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, rawQueryOf, sendData, sendJson, sendStream } from '../http/library.ts';
import type { RawQuery, ReadText, Stream } from '../query/contract.ts';
import { createBody, deleteBody, payloadBody, searchBody, updateBody } from './bodies.ts';
import type { Items, Key } from './contract.ts';
import { type CollectionSubject, describeCollection } from './descriptions/collection.ts';
import { formatOf } from './read/export/formats.ts';
import { envelopeOf } from './read/long-read.ts';
import { checkShape, sendWritten } from './written.ts';

/** The read a list route needs; the service's own has a memory for the text of a query. */
export type ReadList = (
  caller: Caller,
  collection: string,
  ctx: HttpContext,
  key?: string,
) => Promise<ReadText | Stream>;

interface Options {
  readonly readList?: ReadList;
  /** Answers the collection a request is about, or throws; the default is the fixed one. */
  readonly collectionOf?: (ctx: HttpContext) => string;
  /** Asked before routes that a singleton does not have. */
  readonly refuseSingleton?: (ctx: HttpContext) => Promise<void>;
  readonly isSingleton?: (ctx: HttpContext) => Promise<boolean>;
  /** What the descriptions of the routes say of the rows, where it is not a list of what the collection is called. */
  readonly about?: Partial<CollectionSubject>;
}

const subjectOf = (collection: string, about: Options['about']): CollectionSubject => {
  const plural = collection.replace('platform_', '');
  return { collection, plural, tag: plural, holds: 'many', ...about };
};

/** The full set of routes of a collection (conventions, "Common endpoint set"), at `path`. */
export function collectionRoutes(
  items: Items,
  path: string,
  collection: string,
  options: Options = {},
): readonly Route[] {
  const {
    collectionOf = () => collection,
    isSingleton = async () => false,
    refuseSingleton = async () => {},
  } = options;
  const describe = describeCollection(subjectOf(collection, options.about));
  const readList: ReadList =
    options.readList ??
    ((caller, name, ctx, key) =>
      key === undefined
        ? items.stream(caller, name, rawQueryOf(ctx))
        : items.readOne(caller, name, key, rawQueryOf(ctx)));

  const send = (ctx: HttpContext, answer: ReadText | Stream): void | Promise<void> =>
    'batches' in answer
      ? sendStream(ctx, envelopeOf(answer), { type: 'application/json; charset=utf-8' })
      : sendJson(ctx, answer.data ?? 'null', answer.meta ?? undefined);

  /** Answers true where the rows were asked for as a file. */
  async function sendFile(ctx: HttpContext, query: RawQuery, keys?: readonly unknown[]): Promise<boolean> {
    const format = formatOf(query.export);
    if (!format) return false;
    const { name, type, parts } = await items.export(ctx.state.caller, collectionOf(ctx), format, query, keys);
    await sendStream(ctx, parts, { type, download: name });
    return true;
  }

  const answer = (ctx: HttpContext, name: string, keys: readonly Key[], list: boolean) =>
    sendWritten(items, ctx, name, keys, list);

  return [
    {
      method: 'GET',
      path,
      description: describe.list,
      async handle(ctx) {
        // The query string is left unparsed where its text is known already.
        if (ctx.querystring.includes('export') && (await sendFile(ctx, rawQueryOf(ctx)))) return;
        await send(ctx, await readList(ctx.state.caller, collectionOf(ctx), ctx));
      },
    },
    {
      method: 'SEARCH',
      path,
      description: describe.search,
      async handle(ctx) {
        const name = collectionOf(ctx);
        const { query = rawQueryOf(ctx), keys } = searchBody(bodyOf(ctx));
        const { caller } = ctx.state;
        if (await sendFile(ctx, query, keys)) return;
        await send(
          ctx,
          keys ? await items.readKeys(caller, name, keys, query) : await items.stream(caller, name, query),
        );
      },
    },
    {
      method: 'POST',
      path,
      description: describe.create,
      async handle(ctx) {
        const name = collectionOf(ctx);
        await refuseSingleton(ctx);
        const body = createBody(bodyOf(ctx));
        await checkShape(items, ctx, name);
        if ('length' in body && Array.isArray(body)) {
          return answer(ctx, name, await items.createMany(ctx.state.caller, name, body), true);
        }
        return answer(
          ctx,
          name,
          [await items.createOne(ctx.state.caller, name, body as Record<string, unknown>)],
          false,
        );
      },
    },
    {
      method: 'PATCH',
      path,
      description: describe.updateMany,
      async handle(ctx) {
        const name = collectionOf(ctx);
        const { caller } = ctx.state;
        await checkShape(items, ctx, name);
        if (await isSingleton(ctx)) {
          return answer(ctx, name, [await items.upsertSingleton(caller, name, payloadBody(bodyOf(ctx)))], false);
        }
        const body = updateBody(bodyOf(ctx));
        const keys =
          'rows' in body
            ? await items.updateEach(caller, name, body.rows)
            : 'keys' in body
              ? await items.updateMany(caller, name, body.keys, body.data)
              : await items.updateByQuery(caller, name, body.query, body.data);
        return answer(ctx, name, keys, true);
      },
    },
    {
      method: 'DELETE',
      path,
      description: describe.deleteMany,
      async handle(ctx) {
        const name = collectionOf(ctx);
        const body = deleteBody(bodyOf(ctx));
        if ('keys' in body) await items.deleteMany(ctx.state.caller, name, body.keys);
        else await items.deleteByQuery(ctx.state.caller, name, body.query);
        sendData(ctx, undefined);
      },
    },
    {
      method: 'GET',
      path: `${path}/:id`,
      description: describe.readOne,
      handle: async (ctx) => send(ctx, await readList(ctx.state.caller, collectionOf(ctx), ctx, ctx.params.id)),
    },
    {
      method: 'PATCH',
      path: `${path}/:id`,
      description: describe.updateOne,
      async handle(ctx) {
        const name = collectionOf(ctx);
        await refuseSingleton(ctx);
        await checkShape(items, ctx, name);
        const key = await items.updateOne(ctx.state.caller, name, ctx.params.id, payloadBody(bodyOf(ctx)));
        return answer(ctx, name, [key], false);
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:id`,
      description: describe.deleteOne,
      async handle(ctx) {
        await items.deleteMany(ctx.state.caller, collectionOf(ctx), [ctx.params.id]);
        sendData(ctx, undefined);
      },
    },
  ];
}
