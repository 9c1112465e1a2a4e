import type { Caller } from '#kernel';
import type { RawQuery } from '../../query/contract.ts';
import { findCollection } from '../collection-target.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../event-names.ts';
import { hasReadListeners } from './read-listeners.ts';
import type { ReadPlanner, ReadRequest } from './read-plan.ts';

/** SQL of the JSON text of the row `t` as a query of this caller reads it; undefined where the row has to be read back. */
export type WrittenRowSql = (caller: Caller, collection: string, raw: RawQuery) => Promise<string | undefined>;

/**
 * A row that was just written reads as it was returned where nothing may change it until it is read: no trigger, no action of an
 * event, no listener on reads. Then the statement that writes it answers it, and it is not read back.
 */
export function createWrittenRowSql(
  { schema, access, query, events }: Pick<Deps, 'schema' | 'access' | 'query' | 'events'>,
  plan: ReadPlanner,
  toReadRequest: (raw: RawQuery) => ReadRequest,
): WrittenRowSql {
  /** By the trees of remembered plans. */
  const cachedSql = new WeakMap<object, { readonly sql: string | undefined }>();
  return async (caller, name, raw) => {
    const set = await access.permissions(caller);
    if (set.of(name, 'read').length === 0) return undefined;
    const target = await findCollection(schema, name);
    const { collection, schemaSnapshot } = target;
    const hasListener = (kind: 'filter' | 'action', verb: string) =>
      eventNames(collection, verb).some((event) => events.has(kind, event));
    // A write of the service's own tables may change what its caller may read.
    if (collection.system || collection.reacts || hasReadListeners(events, collection)) return undefined;
    if (hasListener('filter', 'query') || hasListener('action', 'create') || hasListener('action', 'update'))
      return undefined;
    const { read } = await plan(caller, set, target, { ...toReadRequest(raw), key: '' });
    const found = cachedSql.get(read) ?? { sql: query.ownRow(read, schemaSnapshot, 't') };
    cachedSql.set(read, found);
    return found.sql;
  };
}
