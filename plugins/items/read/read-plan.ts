import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { PermissionSet } from '../../access/contract.ts';
import type {
  GroupSelection,
  PermissionRestricted,
  PlaceholderValues,
  PreparedStatement,
  RawQuery,
  ReadNode,
  RowSelection,
} from '../../query/contract.ts';
import { createUnknownFieldFailure } from '../../query/library.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { itemEventNames } from '../event-names.ts';
import { type CollectionInSnapshot, requireKeyField } from '../find-collection-and-key.ts';
import { isPossiblyLongRead } from './long-read.ts';
import { runQueryListeners } from './query-listeners.ts';
import { hasReadListeners } from './read-listeners.ts';
import { estimateStatementBytes } from './statement-size.ts';

/** A read as a route requests it. `query` is called only where no compiled statement is cached for `text`. */
export interface ReadRequest {
  readonly query: () => RawQuery;
  /** In place of the query. `open`: with an `OperandPlaceholder` in place of each value of `placeholders`. */
  readonly selection?: (open?: boolean) => RowSelection | GroupSelection;
  /** The values of the placeholders, which are no part of `text`. */
  readonly placeholders?: PlaceholderValues;
  /** The query as text: the same text always means the same query. */
  readonly text?: string;
  readonly key?: unknown;
  readonly keys?: readonly unknown[];
  readonly unlimited?: boolean;
  /** No listener is called for the read, nor may change it. */
  readonly withoutListeners?: boolean;
  /** Streams row by row where the read may be long, or always: for callers that accept a stream. */
  readonly streaming?: 'long' | 'always';
}

export interface ReadPlan {
  prepared: PreparedStatement;
  readonly read: PermissionRestricted<ReadNode>;
  /** For a selection with read listeners: the query they receive, and the conversion of their rows to the answer. */
  readonly readListeners?: { readonly query: RawQuery; readonly shape: (row: unknown) => unknown };
  /**
   * For a read that may be long and was not: the same statement as one text, which costs half. Null once a run was long
   * or failed: from then on the read goes through a cursor.
   */
  preparedText?: PreparedStatement | null;
}

const MAX_CACHED_QUERY_TEXT = 2000;
/** Characters of all cached statements; their trees take several times as much memory. */
const MAX_CACHED_CHARACTERS = 8_000_000;

/** Makes the compiled statement of a read for the caller's permissions, or takes it from the cache. */
export type ReadPlanner = (
  caller: Caller,
  set: PermissionSet,
  target: CollectionInSnapshot,
  request: ReadRequest,
) => Promise<ReadPlan>;

/** Creates the planner with a cache of its own. */
export function createReadPlanner({ schema, access, query, events }: ItemsEngineDeps): ReadPlanner {
  /** Compiled statements by everything they depend on: text, schema version, permission set. Never by user or key. */
  const plans = new LRUCache<string, ReadPlan>({
    max: 2000,
    // Short queries can make long statements (`*.*.*`), so the cache is bounded by size as well.
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ prepared }, key) => key.length + estimateStatementBytes(prepared),
  });

  return async (caller, set, target, request) => {
    const { schemaSnapshot, collection } = target;
    // Listeners need all rows at once.
    const hasListeners =
      (request.streaming !== undefined || request.selection !== undefined) && hasReadListeners(events, collection);
    const streaming = request.streaming !== undefined && !hasListeners ? request.streaming : '';
    // Listeners that receive the query receive its values, so the plan depends on them.
    const listenerKey =
      request.selection !== undefined && hasListeners ? ` listeners ${JSON.stringify(request.placeholders)}` : '';
    const cacheKey =
      request.text !== undefined && request.text.length + listenerKey.length <= MAX_CACHED_QUERY_TEXT
        ? `${schemaSnapshot.version}\n${set.version}\n${set.key}\n${collection.name}\n${request.keys ? 'keys' : request.key === undefined ? streaming : 'key'}${listenerKey}\n${request.text}`
        : undefined;
    const hasQueryListeners =
      !request.withoutListeners &&
      itemEventNames(collection, 'query').some((name) => events.hasListeners('filter', name));
    const cachedPlan = cacheKey !== undefined && !hasQueryListeners ? plans.get(cacheKey) : undefined;
    if (cachedPlan) {
      // A second use makes further uses likely, so the statement is prepared. Cursors are opened anew each time.
      if (cachedPlan.prepared.form === 'text') cachedPlan.prepared = query.keepPrepared(cachedPlan.prepared);
      return cachedPlan;
    }
    const resolved = await runQueryListeners(events, caller, collection, request, {
      onQuery: hasQueryListeners,
      onRead: listenerKey !== '',
    });
    const { query: resolvedQuery, selection } = resolved;
    let hasUnknownField = false;
    // Counts and groups are for lists only.
    const singleRowQuery = { ...resolvedQuery, meta: undefined, aggregate: undefined, groupBy: undefined };
    const parsed = query.parse(collection, request.key === undefined ? resolvedQuery : singleRowQuery, {
      schema: schemaSnapshot,
      isVisible: access.fieldVisibility(set),
      onUnknownField: () => {
        hasUnknownField = true;
      },
      unlimited: request.unlimited ?? false,
      ...(selection ? { selection } : {}),
      single: request.key !== undefined || collection.singleton,
      ...(request.keys ? { keys: { dynamic: 'keys' } } : {}),
    });
    // The unknown field may be a column that was created a moment ago.
    if (hasUnknownField && (await schema.refresh()).version !== schemaSnapshot.version)
      throw createUnknownFieldFailure('in fields', collection.name);
    const read = await access.restrict(
      request.key === undefined ? parsed : withKeyCondition(parsed),
      caller,
      schemaSnapshot,
    );
    const isStreamed =
      streaming === 'always' ? !read.single && !read.aggregate : streaming === 'long' && isPossiblyLongRead(read);
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
 * Adds the condition on the key, whose value is bound when the statement runs, to the query's filter. A table has no
 * second row with that key; a view may have one.
 */
function withKeyCondition(read: ReadNode): ReadNode {
  const key = requireKeyField(read.collection);
  const test = { kind: 'test', use: { field: key }, operator: '_eq', values: [{ dynamic: 'key' }] } as const;
  return {
    ...read,
    where: { kind: 'and', of: [test, read.where] },
    order: [],
    limit: read.collection.kind === 'table' ? null : 1,
  };
}
