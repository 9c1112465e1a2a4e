import type { Caller } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import {
  bodyOf,
  checkUnknownQueryMembers,
  createDisconnectSignalGetter,
  parsedQueryStringOf,
  sendData,
  sendJsonTextInEnvelope,
  sendStream,
} from '../http/library.ts';
import type { RawQuery, ReadResultText, RowStream } from '../query/contract.ts';
import { currentAnswerSources } from '../query/library.ts';
import type { ItemsEngine, WriteCancellation } from './contract.ts';
import {
  type CollectionRouteDescriptions,
  type DocumentedCollection,
  describeCollectionRoutes,
} from './descriptions/collection-route-descriptions.ts';
import { QUERY_PARAMETER_NAMES } from './descriptions/query-parameter-descriptions.ts';
import { parseExportFormat } from './read/export/formats.ts';
import { renderReadEnvelope } from './read/long-read.ts';
import {
  parseCreateBody,
  parseDeleteBody,
  parsePayloadBody,
  parseSearchBody,
  parseUpdateBody,
} from './request-bodies.ts';
import { answerShapeParametersOf, assertAnswerShapeParameters, sendWrittenRows } from './written-response.ts';

/**
 * Reads for the GET routes: a list, or with `key` one row. The routes of /items cache the read by the text of the query
 * string.
 */
export type ListRouteReader = (
  caller: Caller,
  collection: string,
  ctx: HttpContext,
  key?: string,
) => Promise<ReadResultText | RowStream>;

interface CollectionRouteOptions {
  readonly readList?: ListRouteReader;
  /** Returns the collection of a request, or throws; the default is the fixed collection. */
  readonly collectionOf?: (ctx: HttpContext) => string;
  /** Throws on routes that a singleton does not have. */
  readonly assertNotSingleton?: (ctx: HttpContext) => Promise<void>;
  readonly isSingleton?: (ctx: HttpContext) => Promise<boolean>;
  /** What the descriptions of the routes call the rows, where the collection's name is not enough. */
  readonly about?: Partial<DocumentedCollection>;
}

const toDocumentedCollection = (collection: string, about: CollectionRouteOptions['about']): DocumentedCollection => {
  const plural = collection.replace('platform_', '');
  return { collection, plural, tag: plural, holds: 'many', ...about };
};

/** The options of all routes of one collection. */
interface CollectionEndpoints extends Required<Omit<CollectionRouteOptions, 'about'>> {
  readonly items: ItemsEngine;
  readonly path: string;
  readonly describe: CollectionRouteDescriptions;
}

/** The full set of routes of a collection at `path` (conventions, "Common endpoint set"). */
export function collectionRoutes(
  items: ItemsEngine,
  path: string,
  collection: string,
  options: CollectionRouteOptions = {},
): readonly Route[] {
  const {
    collectionOf = () => collection,
    isSingleton = async () => false,
    assertNotSingleton = async () => {},
    readList = (caller, name, ctx, key) =>
      key === undefined
        ? items.stream(caller, name, parsedQueryStringOf(ctx))
        : items.readOne(caller, name, key, parsedQueryStringOf(ctx)),
  } = options;
  const describe = describeCollectionRoutes(toDocumentedCollection(collection, options.about));
  const endpoints = { items, path, describe, collectionOf, isSingleton, assertNotSingleton, readList };
  return [...listRoutes(endpoints), ...rowRoutes(endpoints)];
}

/** The routes at the path of the collection. */
function listRoutes(endpoints: CollectionEndpoints): readonly Route[] {
  const { items, path, describe, collectionOf, readList } = endpoints;
  return [
    {
      method: 'GET',
      path,
      description: describe.list,
      async handle(ctx) {
        // The query string is not parsed where its text has a cached statement.
        if (ctx.querystring.includes('export') && (await sendExport(endpoints, ctx, parsedQueryStringOf(ctx)))) return;
        await sendRows(ctx, await readList(ctx.state.caller, collectionOf(ctx), ctx));
      },
    },
    {
      method: 'SEARCH',
      path,
      description: describe.search,
      async handle(ctx) {
        const name = collectionOf(ctx);
        const body = parseSearchBody(bodyOf(ctx));
        if (body.query) checkUnknownQueryMembers(ctx, body.query, QUERY_PARAMETER_NAMES);
        const { query = parsedQueryStringOf(ctx), keys } = body;
        const { caller } = ctx.state;
        if (await sendExport(endpoints, ctx, query, keys)) return;
        await sendRows(
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
        const body = parseDeleteBody(bodyOf(ctx));
        if ('keys' in body) await items.deleteMany(ctx.state.caller, name, body.keys, cancellationOf(ctx));
        else await items.deleteByQuery(ctx.state.caller, name, body.query, cancellationOf(ctx));
        sendData(ctx, undefined);
      },
    },
  ];
}

/** The routes of one row, by its key. */
function rowRoutes({
  items,
  path,
  describe,
  collectionOf,
  assertNotSingleton,
  readList,
}: CollectionEndpoints): readonly Route[] {
  const rowPath = `${path}/:id`;
  return [
    {
      method: 'GET',
      path: rowPath,
      description: describe.readOne,
      handle: async (ctx) => sendRows(ctx, await readList(ctx.state.caller, collectionOf(ctx), ctx, ctx.params.id)),
    },
    {
      method: 'PATCH',
      path: rowPath,
      description: describe.updateOne,
      async handle(ctx) {
        const name = collectionOf(ctx);
        await assertNotSingleton(ctx);
        await assertAnswerShapeParameters(items, ctx, name);
        const options = { ...cancellationOf(ctx), answer: { query: answerShapeParametersOf(ctx) } };
        const key = await items.updateOne(
          ctx.state.caller,
          name,
          ctx.params.id,
          parsePayloadBody(bodyOf(ctx)),
          options,
        );
        return sendWrittenRows(items, ctx, name, [key], false, options.answer);
      },
    },
    {
      method: 'DELETE',
      path: rowPath,
      description: describe.deleteOne,
      async handle(ctx) {
        await items.deleteMany(ctx.state.caller, collectionOf(ctx), [ctx.params.id], cancellationOf(ctx));
        sendData(ctx, undefined);
      },
    },
  ];
}

async function createRows(
  { items, collectionOf, assertNotSingleton }: CollectionEndpoints,
  ctx: HttpContext,
): Promise<void> {
  const name = collectionOf(ctx);
  await assertNotSingleton(ctx);
  const body = parseCreateBody(bodyOf(ctx));
  await assertAnswerShapeParameters(items, ctx, name);
  const { caller } = ctx.state;
  const options = { ...cancellationOf(ctx), answer: { query: answerShapeParametersOf(ctx) } };
  if ('length' in body && Array.isArray(body))
    return sendWrittenRows(items, ctx, name, await items.createMany(caller, name, body, options), true, options.answer);
  const key = await items.createOne(caller, name, body as Record<string, unknown>, options);
  return sendWrittenRows(items, ctx, name, [key], false, options.answer);
}

async function updateRows({ items, collectionOf, isSingleton }: CollectionEndpoints, ctx: HttpContext): Promise<void> {
  const name = collectionOf(ctx);
  const { caller } = ctx.state;
  await assertAnswerShapeParameters(items, ctx, name);
  if (await isSingleton(ctx)) {
    const key = await items.upsertSingleton(caller, name, parsePayloadBody(bodyOf(ctx)), cancellationOf(ctx));
    return sendWrittenRows(items, ctx, name, [key], false);
  }
  const body = parseUpdateBody(bodyOf(ctx));
  const keys =
    'rows' in body
      ? await items.updateEach(caller, name, body.rows, cancellationOf(ctx))
      : 'keys' in body
        ? await items.updateMany(caller, name, body.keys, body.data, cancellationOf(ctx))
        : await items.updateByQuery(caller, name, body.query, body.data, cancellationOf(ctx));
  return sendWrittenRows(items, ctx, name, keys, true);
}

/** Sends the rows as a file where the query has `export`. Returns whether it did. */
async function sendExport(
  { items, collectionOf }: CollectionEndpoints,
  ctx: HttpContext,
  query: RawQuery,
  keys?: readonly unknown[],
): Promise<boolean> {
  const format = parseExportFormat(query.export);
  if (!format) return false;
  const { name, type, parts } = await items.export(
    ctx.state.caller,
    collectionOf(ctx),
    format,
    query,
    keys ? { keys } : {},
  );
  await sendStream(ctx, parts, { type, download: name });
  return true;
}

/** A write is cancelled when its client disconnects, until its commit begins. */
const cancellationOf = (ctx: HttpContext): WriteCancellation => ({ signal: createDisconnectSignalGetter(ctx) });

function sendRows(ctx: HttpContext, answer: ReadResultText | RowStream): void | Promise<void> {
  if ('batches' in answer)
    return sendStream(ctx, renderReadEnvelope(answer), { type: 'application/json; charset=utf-8' });
  sendJsonTextInEnvelope(ctx, answer.data ?? 'null', answer.meta ?? undefined);
  currentAnswerSources()?.markComplete();
}
