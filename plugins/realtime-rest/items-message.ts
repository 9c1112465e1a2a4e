import { type Caller, Failure } from '#kernel';
import type { ItemsEngine, Key, Payload } from '../items/contract.ts';
import type { RawQuery, ReadResultText } from '../query/contract.ts';
import { assertReadLength, readList } from '../realtime/library.ts';
import type { Collection } from '../schema/contract.ts';
import { type ClientMessage, isRecord, MessageRefusal, renderMessage } from './messages.ts';
import type { RestTransportDeps } from './rest-transport.ts';
import { findServedCollection } from './served-collection.ts';

type Items = ItemsEngine;

/** A message `items`, checked as far as its form goes. */
interface ItemsRequest {
  readonly caller: Caller;
  readonly collection: Collection;
  readonly id: unknown;
  readonly ids: readonly unknown[] | undefined;
  readonly data: unknown;
  readonly query: RawQuery | undefined;
}

const invalid = (message: string) => new MessageRefusal('INVALID_PAYLOAD', message);

/** Answers a message `items` (conventions, "Items"). @throws MessageRefusal, and what the verb throws */
export async function handleItemsMessage(
  deps: Pick<RestTransportDeps, 'access' | 'items' | 'schema'>,
  caller: Caller,
  message: ClientMessage,
): Promise<string> {
  const run = ACTIONS_BY_NAME.get(message.action);
  if (!run) throw invalid('"action" must be create, read, update or delete.');
  const collection = await findServedCollection(deps, caller, message.collection, { withSystem: false });
  const { data, meta } = await run(deps.items, parseRequest(message, caller, collection));
  return renderMessage({ type: 'items' }, { data: data ?? 'null', meta }, message.uid);
}

function parseRequest({ id, ids, data, query }: ClientMessage, caller: Caller, collection: Collection): ItemsRequest {
  if (ids !== undefined && ids !== null && !Array.isArray(ids)) throw invalid('"ids" must be a list.');
  if (query !== undefined && query !== null && !isRecord(query)) throw invalid('"query" must be an object.');
  return { caller, collection, id: id ?? undefined, ids: ids ?? undefined, data, query: query ?? undefined };
}

type Action = (items: Items, request: ItemsRequest) => Promise<ReadResultText>;

const ACTIONS = {
  async create(items, { caller, collection: { name }, data, query }) {
    if (Array.isArray(data)) {
      const keys = await items.createMany(caller, name, data.map(assertPayload));
      return readWritten(items, caller, name, keys, query);
    }
    return readWritten(items, caller, name, await items.createOne(caller, name, assertPayload(data)), query);
  },

  async read(items, { caller, collection: { name }, id, ids, query = {} }) {
    if (id !== undefined) return assertReadLength(await items.readOne(caller, name, id, query));
    if (ids) return assertReadLength(await items.readKeys(caller, name, ids, query));
    return readList(items, caller, name, query);
  },

  async update(items, { caller, collection: { name, singleton }, id, ids, data, query }) {
    const read = (keys: Key | readonly Key[]) => readWritten(items, caller, name, keys, query);
    if (id !== undefined) return read(await items.updateOne(caller, name, id, assertPayload(data)));
    if (ids) return read(await items.updateMany(caller, name, ids, assertPayload(data)));
    if (Array.isArray(data)) return read(await items.updateEach(caller, name, data.map(assertPayload)));
    if (singleton) {
      await items.upsertSingleton(caller, name, assertPayload(data));
      return orNull(items.readMany(caller, name, answerShapeOf(query)));
    }
    if (!query) throw invalid('"update" needs "id", "ids", a list as "data", or "query".');
    return read(await items.updateByQuery(caller, name, query, assertPayload(data)));
  },

  async delete(items, { caller, collection: { name }, id, ids, query }) {
    if (id !== undefined) return { data: JSON.stringify((await items.deleteMany(caller, name, [id]))[0]), meta: null };
    if (!ids && !query) throw invalid('"delete" needs "id", "ids" or "query".');
    const keys = ids ? await items.deleteMany(caller, name, ids) : await items.deleteByQuery(caller, name, query ?? {});
    return { data: JSON.stringify(keys), meta: null };
  },
} satisfies Readonly<Record<string, Action>>;

const ACTIONS_BY_NAME = new Map<unknown, Action>(Object.entries(ACTIONS));

function assertPayload(data: unknown): Payload {
  if (!isRecord(data)) throw invalid('"data" must be an object, or a list of objects.');
  return data;
}

/** Conditions of the query apply to the rows that are written, and not to the answer. */
const answerShapeOf = ({ fields, deep, alias }: RawQuery = {}): RawQuery => ({ fields, deep, alias });

/** The written row, or the list of rows; null where the caller may not read them. */
const readWritten = (
  items: Items,
  caller: Caller,
  collection: string,
  keys: Key | readonly Key[],
  query: RawQuery | undefined,
): Promise<ReadResultText> =>
  orNull(
    typeof keys === 'object'
      ? items.readKeys(caller, collection, keys, answerShapeOf(query))
      : items.readOne(caller, collection, keys, answerShapeOf(query)),
  );

const orNull = (reading: Promise<ReadResultText>): Promise<ReadResultText> =>
  reading.catch((error) => {
    if (error instanceof Failure && error.code === 'FORBIDDEN') return { data: null, meta: null };
    throw error;
  });
