import type { Caller, EventsApi } from '#kernel';
import type { GroupSelection, RawQuery, Selection } from '../../query/contract.ts';
import { decodeRawQuery } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { eventNames } from '../event-names.ts';
import { applyListenerQuery } from './listener-query.ts';
import type { ReadRequest } from './read-plan.ts';
import { type RestRepresentation, toRestRepresentation } from './rest-representation.ts';

/** The query to parse, after query listeners have changed it. */
export interface QueryAfterListeners {
  readonly query: RawQuery;
  readonly selection?: Selection | GroupSelection;
  /** For a selection with read listeners: the query they receive, and the conversion of their rows. */
  readonly readListeners?: { readonly query: RawQuery; readonly shape: RestRepresentation['createRowShape'] };
}

interface ListenerKinds {
  /** The collection has query listeners. */
  readonly onQuery: boolean;
  /** The collection has read listeners. */
  readonly onRead: boolean;
}

export async function runQueryListeners(
  events: EventsApi,
  caller: Caller,
  collection: Collection,
  request: ReadRequest,
  { onQuery, onRead }: ListenerKinds,
): Promise<QueryAfterListeners> {
  const applyQueryListeners = async (query: RawQuery) =>
    onQuery
      ? events.filter(eventNames(collection, 'query'), decodeRawQuery(query), { caller, collection: collection.name })
      : query;
  const selection = request.selection?.(!onQuery && !onRead);
  if (!selection) return { query: await applyQueryListeners(request.query()) };
  if (!onQuery && !onRead) return { query: {}, selection };
  const { query, layout } = toRestRepresentation(selection);
  const narrowed = onQuery
    ? applyListenerQuery(selection, layout, decodeRawQuery(await applyQueryListeners(query)))
    : selection;
  if (!onRead) return { query: {}, selection: narrowed };
  const representation = toRestRepresentation(narrowed);
  const readListeners = { query, shape: representation.createRowShape };
  return representation.selection
    ? { query: {}, selection: representation.selection, readListeners }
    : { query: representation.query, readListeners };
}
