import type { Caller } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, checkQueryNames, clientSignal, rawQueryOf, sendData, sendJson, sendStream } from '../http/library.ts';
import type { RawQuery, ReadText, Stream } from '../query/contract.ts';
import { createBody, deleteBody, payloadBody, searchBody, updateBody } from './bodies.ts';
import type { Items, WriteLimits } from './contract.ts';
import { type CollectionDescriptions, type CollectionSubject, describeCollection } from './descriptions/collection.ts';
import { QUERY_NAMES } from './descriptions/query.ts';
import { formatOf } from './read/export/formats.ts';
import { envelopeOf } from './read/long-read.ts';
import { checkShape, sendWritten, shapeOf } from './written.ts';

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

/** What the routes of one collection share. */
interface Endpoints extends Required<Omit<Options, 'about'>> {
  readonly items: Items;
  readonly path: string;
  readonly describe: CollectionDescriptions;
}

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
    readList = (caller, name, ctx, key) =>
      key === undefined
        ? items.stream(caller, name, rawQueryOf(ctx))
        : items.readOne(caller, name, key, rawQueryOf(ctx)),
  } = options;
  const describe = describeCollection(subjectOf(collection, options.about));
  const endpoints = { items, path, describe, collectionOf, isSingleton, refuseSingleton, readList };
  return [...listRoutes(endpoints), ...rowRoutes(endpoints)];
}

/** The routes at the path of the collection. */
function listRoutes(endpoints: Endpoints): readonly Route[] {
  const { items, path, describe, collectionOf, readList } = endpoints;
  return [
    {
      method: 'GET',
      path,
      description: describe.list,
      async handle(ctx) {
        // The query string is left unparsed where its text is known already.
        if (ctx.querystring.includes('export') && (await sendFile(endpoints, ctx, rawQueryOf(ctx)))) return;
        await send(ctx, await readList(ctx.state.caller, collectionOf(ctx), ctx));
      },
    },
    {
      method: 'SEARCH',
      path,
      description: describe.search,
      async handle(ctx) {
        const name = collectionOf(ctx);
        const body = searchBody(bodyOf(ctx));
        if (body.query) checkQueryNames(ctx, body.query, QUERY_NAMES);
        const { query = rawQueryOf(ctx), keys } = body;
        const { caller } = ctx.state;
        if (await sendFile(endpoints, ctx, query, keys)) return;
        await send(
          ctx,
          keys ? await items.readKeys(caller, name, keys, query) : await items.stream(caller, name, query),
        );
      },
    },
    { method: 'POST', path, description: describe.create, handle: (ctx) => createRows(endpoints, ctx) },
    { method: 'PATCH', path, description: describe.updateMany, handle: (ctx) => updateRows(endpoints, ctx) },
    {
      method: 'DELETE',
      path,
      description: describe.deleteMany,
      async handle(ctx) {
        const name = collectionOf(ctx);
        const body = deleteBody(bodyOf(ctx));
        if ('keys' in body) await items.deleteMany(ctx.state.caller, name, body.keys, limitsOf(ctx));
        else await items.deleteByQuery(ctx.state.caller, name, body.query, limitsOf(ctx));
        sendData(ctx, undefined);
      },
    },
  ];
}

/** The routes of one row, by its key. */
function rowRoutes({ items, path, describe, collectionOf, refuseSingleton, readList }: Endpoints): readonly Route[] {
  const rowPath = `${path}/:id`;
  return [
    {
      method: 'GET',
      path: rowPath,
      description: describe.readOne,
      handle: async (ctx) => send(ctx, await readList(ctx.state.caller, collectionOf(ctx), ctx, ctx.params.id)),
    },
    {
      method: 'PATCH',
      path: rowPath,
      description: describe.updateOne,
      async handle(ctx) {
        const name = collectionOf(ctx);
        await refuseSingleton(ctx);
        await checkShape(items, ctx, name);
        const options = { ...limitsOf(ctx), answer: { query: shapeOf(ctx) } };
        const key = await items.updateOne(ctx.state.caller, name, ctx.params.id, payloadBody(bodyOf(ctx)), options);
        return sendWritten(items, ctx, name, [key], false, options.answer);
      },
    },
    {
      method: 'DELETE',
      path: rowPath,
      description: describe.deleteOne,
      async handle(ctx) {
        await items.deleteMany(ctx.state.caller, collectionOf(ctx), [ctx.params.id], limitsOf(ctx));
        sendData(ctx, undefined);
      },
    },
  ];
}

async function createRows({ items, collectionOf, refuseSingleton }: Endpoints, ctx: HttpContext): Promise<void> {
  const name = collectionOf(ctx);
  await refuseSingleton(ctx);
  const body = createBody(bodyOf(ctx));
  await checkShape(items, ctx, name);
  const { caller } = ctx.state;
  if ('length' in body && Array.isArray(body))
    return sendWritten(items, ctx, name, await items.createMany(caller, name, body, limitsOf(ctx)), true);
  const options = { ...limitsOf(ctx), answer: { query: shapeOf(ctx) } };
  const key = await items.createOne(caller, name, body as Record<string, unknown>, options);
  return sendWritten(items, ctx, name, [key], false, options.answer);
}

async function updateRows({ items, collectionOf, isSingleton }: Endpoints, ctx: HttpContext): Promise<void> {
  const name = collectionOf(ctx);
  const { caller } = ctx.state;
  await checkShape(items, ctx, name);
  if (await isSingleton(ctx)) {
    const key = await items.upsertSingleton(caller, name, payloadBody(bodyOf(ctx)), limitsOf(ctx));
    return sendWritten(items, ctx, name, [key], false);
  }
  const body = updateBody(bodyOf(ctx));
  const keys =
    'rows' in body
      ? await items.updateEach(caller, name, body.rows, limitsOf(ctx))
      : 'keys' in body
        ? await items.updateMany(caller, name, body.keys, body.data, limitsOf(ctx))
        : await items.updateByQuery(caller, name, body.query, body.data, limitsOf(ctx));
  return sendWritten(items, ctx, name, keys, true);
}

/** Answers true where the rows were asked for as a file. */
async function sendFile(
  { items, collectionOf }: Endpoints,
  ctx: HttpContext,
  query: RawQuery,
  keys?: readonly unknown[],
): Promise<boolean> {
  const format = formatOf(query.export);
  if (!format) return false;
  const { name, type, parts } = await items.export(ctx.state.caller, collectionOf(ctx), format, query, keys);
  await sendStream(ctx, parts, { type, download: name });
  return true;
}

/** A write ends with its client, until its commit begins. */
const limitsOf = (ctx: HttpContext): WriteLimits => ({ signal: clientSignal(ctx) });

const send = (ctx: HttpContext, answer: ReadText | Stream): void | Promise<void> =>
  'batches' in answer
    ? sendStream(ctx, envelopeOf(answer), { type: 'application/json; charset=utf-8' })
    : sendJson(ctx, answer.data ?? 'null', answer.meta ?? undefined);
