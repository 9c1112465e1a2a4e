import type { Caller, EventsApi } from '#kernel';
import type { GroupSelection, RawQuery, RowSelection } from '../../query/contract.ts';
import { decodeRawQuery } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { itemEventNames } from '../event-names.ts';
import { applyListenerQuery } from './apply-listener-query.ts';
import type { ReadRequest } from './read-plan.ts';
import { type SelectionRestRepresentation, toSelectionRestRepresentation } from './rest-representation.ts';

/** The query to parse, after query listeners have changed it. */
export interface QueryAfterListeners {
  readonly query: RawQuery;
  readonly selection?: RowSelection | GroupSelection;
  /** For a selection with read listeners: the query they receive, and the conversion of their rows. */
  readonly readListeners?: { readonly query: RawQuery; readonly shape: SelectionRestRepresentation['createRowShape'] };
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
      ? events.filter(itemEventNames(collection, 'query'), decodeRawQuery(query), {
          caller,
          collection: collection.name,
        })
      : query;
  const selection = request.selection?.(!onQuery && !onRead);
  if (!selection) return { query: await applyQueryListeners(request.query()) };
  if (!onQuery && !onRead) return { query: {}, selection };
  const { query, layout } = toSelectionRestRepresentation(selection);
  const narrowed = onQuery
    ? applyListenerQuery(selection, layout, decodeRawQuery(await applyQueryListeners(query)))
    : selection;
  if (!onRead) return { query: {}, selection: narrowed };
  const representation = toSelectionRestRepresentation(narrowed);
  const readListeners = { query, shape: representation.createRowShape };
  return representation.selection
    ? { query: {}, selection: representation.selection, readListeners }
    : { query: representation.query, readListeners };
}
