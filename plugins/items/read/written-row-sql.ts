import type { Caller } from '#kernel';
import type { RawQuery } from '../../query/contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { itemEventNames } from '../event-names.ts';
import { requireServedCollection } from '../find-collection-and-key.ts';
import { hasReadListeners } from './read-listeners.ts';
import type { ReadPlanner, ReadRequest } from './read-plan.ts';

/** SQL of the JSON text of the row `t` as this caller's query reads it; undefined where the row has to be read back. */
export type WrittenRowSqlCompiler = (caller: Caller, collection: string, raw: RawQuery) => Promise<string | undefined>;

/**
 * The writing statement can answer its row where nothing may change the row until it is read: no trigger, no action and
 * no read listener.
 */
export function createWrittenRowSqlCompiler(
  { schema, access, query, events }: Pick<ItemsEngineDeps, 'schema' | 'access' | 'query' | 'events'>,
  plan: ReadPlanner,
  toReadRequest: (raw: RawQuery) => ReadRequest,
): WrittenRowSqlCompiler {
  /** SQL of rows by the parsed tree of a cached plan. */
  const cachedSql = new WeakMap<object, { readonly sql: string | undefined }>();
  return async (caller, name, raw) => {
    const set = await access.permissions(caller);
    if (set.of(name, 'read').length === 0) return undefined;
    const target = await requireServedCollection(schema, name);
    const { collection, schemaSnapshot } = target;
    const hasListener = (kind: 'filter' | 'action', verb: string) =>
      itemEventNames(collection, verb).some((event) => events.hasListeners(kind, event));
    // A write of a system collection may change what its caller may read.
    if (collection.system || collection.hasSideEffects || hasReadListeners(events, collection)) return undefined;
    if (hasListener('filter', 'query') || hasListener('action', 'create') || hasListener('action', 'update'))
      return undefined;
    const { read } = await plan(caller, set, target, { ...toReadRequest(raw), key: '' });
    const found = cachedSql.get(read) ?? { sql: query.compileReturning(read, schemaSnapshot, 't') };
    cachedSql.set(read, found);
    return found.sql;
  };
}
