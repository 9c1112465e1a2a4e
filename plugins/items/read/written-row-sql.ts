import type { Caller } from '#kernel';
import type { RawQuery } from '../../query/contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { itemEventNames } from '../event-names.ts';
import { requireServedCollection } from '../find-collection-and-key.ts';
import { hasReadListeners } from './read-listeners.ts';
import type { ReadPlanner, ReadRequest } from './read-plan.ts';

/** How a writing statement answers its row. */
export interface WrittenRowSql {
  /** SQL of the JSON text of the row `t` as this caller's query reads it. */
  readonly sql: string;
  /** Only where no other row is written: the other verb has listeners, which a nested row of the same collection would call. */
  readonly isForSingleRows: boolean;
}

/** Undefined where the row has to be read back. */
export type WrittenRowSqlCompiler = (
  caller: Caller,
  collection: string,
  write: { readonly verb: 'create' | 'update'; readonly query: RawQuery },
) => Promise<WrittenRowSql | undefined>;

/**
 * The writing statement can answer its row where nothing may change the row until it is read: no trigger, no action of the verb and
 * no read listener.
 */
export function createWrittenRowSqlCompiler(
  { schema, access, query, events }: Pick<ItemsEngineDeps, 'schema' | 'access' | 'query' | 'events'>,
  plan: ReadPlanner,
  toReadRequest: (raw: RawQuery) => ReadRequest,
): WrittenRowSqlCompiler {
  /** SQL of rows by the parsed tree of a cached plan. */
  const cachedSql = new WeakMap<object, { readonly sql: string | undefined }>();
  return async (caller, name, { verb, query: raw }) => {
    const set = await access.permissions(caller);
    if (set.of(name, 'read').length === 0) return undefined;
    const target = await requireServedCollection(schema, name);
    const { collection, schemaSnapshot } = target;
    const hasListener = (kind: 'filter' | 'action', verb: string) =>
      itemEventNames(collection, verb).some((event) => events.hasListeners(kind, event));
    // A write of a system collection may change what its caller may read.
    if (collection.system || collection.hasSideEffects || hasReadListeners(events, collection)) return undefined;
    if (hasListener('filter', 'query') || hasListener('action', verb)) return undefined;
    const { read } = await plan(caller, set, target, { ...toReadRequest(raw), key: '' });
    const found = cachedSql.get(read) ?? { sql: query.compileReturning(read, schemaSnapshot, 't') };
    cachedSql.set(read, found);
    if (found.sql === undefined) return undefined;
    return { sql: found.sql, isForSingleRows: hasListener('action', verb === 'create' ? 'update' : 'create') };
  };
}
