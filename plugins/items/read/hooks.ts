import type { Caller, EventsApi } from '#kernel';
import type { RawQuery, ReadText } from '../../query/contract.ts';
import { spelledOut } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { eventNames } from '../names.ts';

/** Does anybody want the rows of this collection as they are read? */
export const isHeard = (events: EventsApi, collection: Collection): boolean =>
  eventNames(collection, 'read').some((name) => events.has('filter', name) || events.has('action', name));

/**
 * Listeners on reads need rows: a collection somebody listens to gives up the untouched text, and only that one. `shape`
 * makes rows of another form of those that are left.
 */
export async function throughHooks(
  events: EventsApi,
  caller: Caller,
  collection: Collection,
  query: RawQuery,
  text: ReadText,
  shape?: (row: unknown) => unknown,
): Promise<ReadText> {
  const names = eventNames(collection, 'read');
  const filtered = names.some((name) => events.has('filter', name));
  const parsed = JSON.parse(text.data as string);
  const list = Array.isArray(parsed);
  const meta = { caller, collection: collection.name, query: spelledOut(query) };
  const rows = await events.filter(names, list ? parsed : [parsed], meta);
  events.action(names, { ...meta, payload: rows });
  if (shape) return { ...text, data: JSON.stringify(list ? rows.map(shape) : shape(rows[0])) };
  return filtered ? { ...text, data: JSON.stringify(list ? rows : rows[0]) } : text;
}
