import type { Caller, EventsApi } from '#kernel';
import { type ReadText, spelledOut } from '../../query/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import { eventNames } from '../names.ts';
import type { Asked } from './plan.ts';

/** Does anybody want the rows of this collection as they are read? */
export const isHeard = (events: EventsApi, collection: Collection): boolean =>
  eventNames(collection, 'read').some((name) => events.has('filter', name) || events.has('action', name));

/** Listeners on reads need rows: a collection somebody listens to gives up the untouched text, and only that one. */
export async function throughHooks(
  events: EventsApi,
  caller: Caller,
  collection: Collection,
  asked: Asked,
  text: ReadText,
): Promise<ReadText> {
  const names = eventNames(collection, 'read');
  const filtered = names.some((name) => events.has('filter', name));
  const parsed = JSON.parse(text.data as string);
  const list = Array.isArray(parsed);
  const meta = { caller, collection: collection.name, query: spelledOut(asked.query()) };
  const rows = await events.filter(names, list ? parsed : [parsed], meta);
  events.action(names, { ...meta, payload: rows });
  return filtered ? { ...text, data: JSON.stringify(list ? rows : rows[0]) } : text;
}
