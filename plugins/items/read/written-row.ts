import type { Caller } from '#kernel';
import type { RawQuery } from '../../query/contract.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../names.ts';
import { findCollection } from '../target.ts';
import { isHeard } from './hooks.ts';
import type { Asked, MakePlan } from './plan.ts';

/** SQL of the JSON text of the row `t` as a query of this caller reads it; undefined where the row has to be read back. */
export type WrittenRowSql = (caller: Caller, collection: string, raw: RawQuery) => Promise<string | undefined>;

/**
 * A row that was just written reads as it was returned where nothing may change it until it is read: no trigger, no action of an
 * event, no listener on reads. Then the statement that writes it answers it, and it is not read back.
 */
export function createWrittenRowSql(
  { schema, access, query, events }: Pick<Deps, 'schema' | 'access' | 'query' | 'events'>,
  plan: MakePlan,
  asObject: (raw: RawQuery) => Asked,
): WrittenRowSql {
  /** By the trees of remembered plans. */
  const known = new WeakMap<object, { readonly sql: string | undefined }>();
  return async (caller, name, raw) => {
    const set = await access.permissions(caller);
    if (set.of(name, 'read').length === 0) return undefined;
    const target = await findCollection(schema, name);
    const { collection, overview } = target;
    const heard = (kind: 'filter' | 'action', verb: string) =>
      eventNames(collection, verb).some((event) => events.has(kind, event));
    // A write of the service's own tables may change what its caller may read.
    if (collection.system || collection.reacts || isHeard(events, collection)) return undefined;
    if (heard('filter', 'query') || heard('action', 'create') || heard('action', 'update')) return undefined;
    const { read } = await plan(caller, set, target, { ...asObject(raw), key: '' });
    const found = known.get(read) ?? { sql: query.ownRow(read, overview, 't') };
    known.set(read, found);
    return found.sql;
  };
}
