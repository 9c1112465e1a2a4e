import type { Caller, EventsApi } from '#kernel';
import type { GroupSelection, RawQuery, Selection } from '../../query/contract.ts';
import { spelledOut } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { eventNames } from '../names.ts';
import { narrowed } from './narrowed.ts';
import type { Asked } from './plan.ts';
import { type RestForm, restForm } from './rest-form.ts';

/** What is parsed, once those who may change a query have done so. */
export interface Question {
  readonly query: RawQuery;
  readonly selection?: Selection | GroupSelection;
  /** For a selection whose rows somebody wants: what they are told was asked, and what becomes of the rows they leave. */
  readonly told?: { readonly query: RawQuery; readonly shape: RestForm['shape'] };
}

interface Listeners {
  /** Somebody may change the query. */
  readonly ofQuery: boolean;
  /** Somebody wants the rows. */
  readonly ofRows: boolean;
}

export async function questionOf(
  events: EventsApi,
  caller: Caller,
  collection: Collection,
  asked: Asked,
  { ofQuery, ofRows }: Listeners,
): Promise<Question> {
  const changed = async (query: RawQuery) =>
    ofQuery
      ? events.filter(eventNames(collection, 'query'), spelledOut(query), { caller, collection: collection.name })
      : query;
  const selection = asked.selection?.(!ofQuery && !ofRows);
  if (!selection) return { query: await changed(asked.query()) };
  if (!ofQuery && !ofRows) return { query: {}, selection };
  const { query, form: names } = restForm(selection);
  const left = ofQuery ? narrowed(selection, names, spelledOut(await changed(query))) : selection;
  if (!ofRows) return { query: {}, selection: left };
  const form = restForm(left);
  const told = { query, shape: form.shape };
  return form.selection ? { query: {}, selection: form.selection, told } : { query: form.query, told };
}
