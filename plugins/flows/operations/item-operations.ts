import { fail } from '#kernel';
import type { ItemsEngine, Key, Payload } from '../../items/contract.ts';
import type { RawQuery } from '../../query/contract.ts';
import type { FlowOperationKind } from '../contract.ts';
import type { RunAsOperation } from './operation-callers.ts';
import { listOption, parseJsonOption, textOption } from './option-values.ts';

interface Deps {
  readonly items: Pick<
    ItemsEngine,
    | 'createMany'
    | 'readOne'
    | 'readKeys'
    | 'rows'
    | 'updateOne'
    | 'updateMany'
    | 'updateEach'
    | 'updateByQuery'
    | 'deleteMany'
    | 'deleteByQuery'
  >;
  readonly runAs: RunAsOperation;
}

type Options = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

function payloadOf({ payload }: Options): Payload | readonly Payload[] | undefined {
  const parsed = parseJsonOption(payload, 'payload');
  if (isEmpty(parsed)) return undefined;
  if (isObject(parsed) || (Array.isArray(parsed) && parsed.every(isObject))) return parsed as Payload | Payload[];
  throw fail('INVALID_PAYLOAD', '"payload" must be an object or a list of objects');
}

function queryOf({ query }: Options): RawQuery | undefined {
  const parsed = parseJsonOption(query, 'query');
  if (isEmpty(parsed)) return undefined;
  if (!isObject(parsed)) throw fail('INVALID_QUERY', '"query" must be an object');
  return parsed as RawQuery;
}

/** `key`: the keys, and whether the option names a single one. */
function keysOf({ key }: Options): { readonly keys: readonly unknown[]; readonly isSingle: boolean } | undefined {
  const keys = listOption(key);
  return keys.length === 0 ? undefined : { keys, isSingle: !Array.isArray(key) && keys.length === 1 };
}

const collectionOf = ({ collection }: Options): string => textOption(collection, 'collection');
const onlyOrAll = (keys: readonly Key[], isSingle: boolean): Key | readonly Key[] | null =>
  isSingle ? (keys[0] ?? null) : keys;

/** `item-create`, `item-read`, `item-update` and `item-delete` (conventions, "Operation types"). */
export function createItemOperations({ items, runAs }: Deps): readonly FlowOperationKind[] {
  return [
    {
      id: 'item-create',
      trial: 'run',
      isAtomic: () => true,
      async run(options, { caller }) {
        const payload = payloadOf(options);
        if (payload === undefined) return null;
        const rows = Array.isArray(payload) ? payload : [payload];
        return runAs(options, caller, (acting) => items.createMany(acting, collectionOf(options), rows));
      },
    },
    {
      id: 'item-read',
      trial: 'run',
      async run(options, { caller }) {
        const collection = collectionOf(options);
        const query = queryOf(options) ?? {};
        const found = keysOf(options);
        return runAs(options, caller, async (acting) => {
          if (!found) return items.rows(acting, collection, query);
          const { data } = found.isSingle
            ? await items.readOne(acting, collection, found.keys[0], query)
            : await items.readKeys(acting, collection, found.keys, query);
          return JSON.parse(data ?? 'null');
        });
      },
    },
    {
      id: 'item-update',
      trial: 'run',
      isAtomic: () => true,
      async run(options, { caller }) {
        const collection = collectionOf(options);
        const payload = payloadOf(options);
        const found = keysOf(options);
        const query = queryOf(options);
        if (payload === undefined) return null;
        if (found && query) throw fail('INVALID_PAYLOAD', 'rows are chosen by "key" or by "query", not by both');
        return runAs(options, caller, async (acting) => {
          if (Array.isArray(payload)) return items.updateEach(acting, collection, payload);
          if (found) {
            const keys = await items.updateMany(acting, collection, found.keys, payload as Payload);
            return onlyOrAll(keys, found.isSingle);
          }
          return query ? items.updateByQuery(acting, collection, query, payload as Payload) : null;
        });
      },
    },
    {
      id: 'item-delete',
      trial: 'run',
      isAtomic: () => true,
      async run(options, { caller }) {
        const collection = collectionOf(options);
        const found = keysOf(options);
        const query = queryOf(options);
        if (!found && !query) return null;
        if (found && query) throw fail('INVALID_PAYLOAD', 'rows are chosen by "key" or by "query", not by both');
        return runAs(options, caller, async (acting) => {
          if (!found) return items.deleteByQuery(acting, collection, query as RawQuery);
          return onlyOrAll(await items.deleteMany(acting, collection, found.keys), found.isSingle);
        });
      },
    },
  ];
}
