import type { Caller, EventsApi } from '#kernel';
import type { RawQuery, ReadResultText } from '../../query/contract.ts';
import { decodeRawQuery } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { itemEventNames } from '../event-names.ts';

/** Whether an event listener receives the rows of this collection when they are read. */
export const hasReadListeners = (events: EventsApi, collection: Collection): boolean =>
  itemEventNames(collection, 'read').some(
    (name) => events.hasListeners('filter', name) || events.hasListeners('action', name),
  );

/**
 * Read listeners need parsed rows: only collections with such a listener lose the unparsed JSON text. `shapeRow`
 * converts the rows that listeners return to the form of the answer.
 */
export async function applyReadListeners(
  events: EventsApi,
  caller: Caller,
  collection: Collection,
  query: RawQuery,
  text: ReadResultText,
  shapeRow?: (row: unknown) => unknown,
): Promise<ReadResultText> {
  const names = itemEventNames(collection, 'read');
  const hasFilters = names.some((name) => events.hasListeners('filter', name));
  const parsed = JSON.parse(text.data as string);
  const isList = Array.isArray(parsed);
  const meta = { caller, collection: collection.name, query: decodeRawQuery(query) };
  const rows = await events.filter(names, isList ? parsed : [parsed], meta);
  events.action(names, { ...meta, payload: rows });
  if (shapeRow) return { ...text, data: JSON.stringify(isList ? rows.map(shapeRow) : shapeRow(rows[0])) };
  return hasFilters ? { ...text, data: JSON.stringify(isList ? rows : rows[0]) } : text;
}
