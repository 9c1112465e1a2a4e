import type { Caller, EventsApi } from '#kernel';
import { type GroupSelection, type RawQuery, type Selected, type Selection, spelledOut } from '../../query/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import { eventNames } from '../names.ts';
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
  const selection = asked.selection?.();
  if (!selection) return { query: await changed(asked.query()) };
  if (!ofQuery && !ofRows) return { query: {}, selection };
  const { query } = restForm(selection);
  const left = ofQuery ? narrowed(selection, spelledOut(await changed(query))) : selection;
  if (!ofRows) return { query: {}, selection: left };
  const form = restForm(left);
  const told = { query, shape: form.shape };
  return form.selection ? { query: {}, selection: form.selection, told } : { query: form.query, told };
}

/** The conditions are those of the query; fields that are no longer in it read null, since the answer has to have them. */
function narrowed(selection: Selection | GroupSelection, query: RawQuery): Selection | GroupSelection {
  const { filter, sort, limit, offset, page, search, groupBy } = query;
  const terms = { filter, sort, limit, offset, page, search };
  if ('groups' in selection) return { ...selection, terms: { ...terms, groupBy } };
  const left = rootsOf(query);
  const kept = (one: Selected): Selected =>
    one.kind === 'object'
      ? { ...one, shown: one.shown.map(kept) }
      : one.kind === 'constant' || !left || left.has(one.field)
        ? one
        : { kind: 'constant', key: one.key, value: null };
  return { terms, shown: selection.shown.map(kept) };
}

/** The fields that the paths of a query begin with; undefined where it shows all. */
function rootsOf({ fields, alias }: RawQuery): ReadonlySet<string> | undefined {
  const paths = [fields ?? []].flat().filter((path) => path !== '');
  if (paths.length === 0) return undefined;
  const names = paths.map((path) => {
    const name = headOf(String(path));
    const aliases = alias ?? {};
    return Object.hasOwn(aliases, name) ? headOf(String((aliases as Record<string, unknown>)[name])) : name;
  });
  return names.includes('*') ? undefined : new Set(names);
}

/** `author.name`, `item:hero.title`, `year(published)`. */
const headOf = (path: string): string => /^(?:\w+\()?([^.:,()]*)/.exec(path)?.[1]?.trim() ?? path;
