import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { PermissionSet } from '../../access/contract.ts';
import type {
  GivenValues,
  GroupSelection,
  Prepared,
  RawQuery,
  Read,
  Restricted,
  Selection,
} from '../../query/contract.ts';
import { unknownField } from '../../query/library.ts';
import { type CollectionTarget, keyField } from '../collection-target.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../event-names.ts';
import { mayBeLong } from './long-read.ts';
import { hasReadListeners } from './read-listeners.ts';
import { resolveQuery } from './resolved-query.ts';
import { estimateBytes } from './statement-size.ts';

/** A read as a route asks for it: the query is only parsed when no compiled statement is remembered for its text. */
export interface ReadRequest {
  readonly query: () => RawQuery;
  /** In place of the query; `open` with `Given`s in it. */
  readonly selection?: (open?: boolean) => Selection | GroupSelection;
  /** The values of those, which the text says nothing of. */
  readonly given?: GivenValues;
  /** The query as text, where the same text always means the same query. */
  readonly text?: string;
  readonly key?: unknown;
  readonly keys?: readonly unknown[];
  readonly unlimited?: boolean;
  /** No listener is told of the read, nor may change it. */
  readonly withoutListeners?: boolean;
  /** Row by row where it may be long, or always: what one reads who can take it in parts. */
  readonly inParts?: 'long' | 'always';
}

export interface ReadPlan {
  prepared: Prepared;
  readonly read: Restricted<Read>;
  /** Of a selection whose rows somebody wants: the query they are told of, and how their rows become the answer. */
  readonly readListeners?: { readonly query: RawQuery; readonly shape: (row: unknown) => unknown };
  /**
   * For a read that may be long and was not: the same as one text, which costs half. Null once it was long after all, or
   * failed: from then on it goes through a cursor.
   */
  preparedText?: Prepared | null;
}

const MAX_CACHED_QUERY_TEXT = 2000;
/** Characters of all statements kept; the trees they came from weigh several times as much. */
const MAX_CACHED_CHARACTERS = 8_000_000;

export type ReadPlanner = (
  caller: Caller,
  set: PermissionSet,
  target: CollectionTarget,
  request: ReadRequest,
) => Promise<ReadPlan>;

/** From what was asked to a statement with the caller's permissions in it, or from memory. */
export function createReadPlanner({ schema, access, query, events }: Deps): ReadPlanner {
  /** Compiled statements by everything they depend on: text, schema version, permission set. Never by user or key. */
  const plans = new LRUCache<string, ReadPlan>({
    max: 2000,
    // Short queries can make long statements (`*.*.*`), so what is kept is bounded by its size as well.
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ prepared }, key) => key.length + estimateBytes(prepared),
  });

  return async (caller, set, target, request) => {
    const { schemaSnapshot, collection } = target;
    // Listeners want the rows, all of them.
    const hasListeners =
      (request.inParts !== undefined || request.selection !== undefined) && hasReadListeners(events, collection);
    const streaming = request.inParts !== undefined && !hasListeners ? request.inParts : '';
    // Those who are told of a query are told of its values.
    const listenerKey =
      request.selection !== undefined && hasListeners ? ` listeners ${JSON.stringify(request.given)}` : '';
    const cacheKey =
      request.text !== undefined && request.text.length + listenerKey.length <= MAX_CACHED_QUERY_TEXT
        ? `${schemaSnapshot.version}\n${set.version}\n${set.key}\n${collection.name}\n${request.keys ? 'keys' : request.key === undefined ? streaming : 'key'}${listenerKey}\n${request.text}`
        : undefined;
    const hasQueryListeners =
      !request.withoutListeners && eventNames(collection, 'query').some((name) => events.has('filter', name));
    const cachedPlan = cacheKey !== undefined && !hasQueryListeners ? plans.get(cacheKey) : undefined;
    if (cachedPlan) {
      // It came a second time, so it will come again. Cursors are made anew each time.
      if (cachedPlan.prepared.form === 'text') cachedPlan.prepared = query.keep(cachedPlan.prepared);
      return cachedPlan;
    }
    const resolved = await resolveQuery(events, caller, collection, request, {
      onQuery: hasQueryListeners,
      onRead: listenerKey !== '',
    });
    const { query: resolvedQuery, selection } = resolved;
    let hasUnknownField = false;
    // Counts and groups belong to lists.
    const singleRowQuery = { ...resolvedQuery, meta: undefined, aggregate: undefined, groupBy: undefined };
    const parsed = query.parse(collection, request.key === undefined ? resolvedQuery : singleRowQuery, {
      overview: schemaSnapshot,
      visible: access.visible(set),
      onUnknown: () => {
        hasUnknownField = true;
      },
      unlimited: request.unlimited ?? false,
      ...(selection ? { selection } : {}),
      single: request.key !== undefined || collection.singleton,
      ...(request.keys ? { keys: { dynamic: 'keys' } } : {}),
    });
    // A name that is left out may be that of a column made a moment ago.
    if (hasUnknownField && (await schema.refresh()).version !== schemaSnapshot.version)
      throw unknownField('in fields', collection.name);
    const read = await access.restrict(
      request.key === undefined ? parsed : withKeyCondition(parsed),
      caller,
      schemaSnapshot,
    );
    const isStreamed =
      streaming === 'always' ? !read.single && !read.aggregate : streaming === 'long' && mayBeLong(read);
    const newPlan: ReadPlan = {
      prepared: query.prepare(read, schemaSnapshot, isStreamed ? 'rows' : 'text'),
      read,
      ...(resolved.readListeners
        ? { readListeners: { query: resolved.readListeners.query, shape: resolved.readListeners.shape(read) } }
        : {}),
    };
    if (cacheKey !== undefined && !hasQueryListeners) plans.set(cacheKey, newPlan);
    return newPlan;
  };
}

/**
 * The row whose key is filled in when the statement runs, beside whatever filter the query has. A table has no second one; what a
 * view is said to have as its key may be there twice.
 */
function withKeyCondition(read: Read): Read {
  const key = keyField(read.collection);
  const test = { kind: 'test', use: { field: key }, operator: '_eq', values: [{ dynamic: 'key' }] } as const;
  return {
    ...read,
    where: { kind: 'all', of: [test, read.where] },
    order: [],
    limit: read.collection.kind === 'table' ? null : 1,
  };
}
