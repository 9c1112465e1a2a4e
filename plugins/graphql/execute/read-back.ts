import { Failure } from '#kernel';
import type { Key } from '../../items/contract.ts';
import type { Selection, Terms } from '../../query/contract.ts';
import { splitKey } from '../../query/library.ts';
import type { Field } from '../../schema/contract.ts';
import type { Root } from '../plan/roots.ts';
import { selectionOf } from '../plan/selection.ts';
import { textOf } from './reads.ts';
import { type ExecuteDeps, type Run, translating } from './run.ts';

/**
 * What is to be shown of rows that will be written. What is wrong with it, and with the conditions in it, is said before
 * anything is written, not after.
 */
export async function checkedSelection(deps: ExecuteDeps, run: Run, { field, nodes }: Root): Promise<Selection> {
  const found: [collection: string, terms: Terms][] = [];
  const reading = translating(deps, run, (...one) => found.push(one));
  const selection = selectionOf(reading, field, nodes);
  for (const [collection, terms] of found) await deps.items.checkQuery(run.call.caller, collection, terms);
  return selection;
}

/** One row, read under the caller's permissions; null where the caller may not see it, although it was written. */
export function rowBack(
  { items }: ExecuteDeps,
  { call, coerced }: Run,
  collection: string,
  root: Root,
  selection: Selection,
  key: Key,
): Promise<string> {
  const asked = { selection: () => selection, key, text: root.text(coerced) };
  return unlessForbidden(async () => textOf(await items.select(call.caller, collection, asked)), 'null');
}

/** The rows in the order they were written, or in the order and the number that the document says, where it does. */
export async function rowsBack(
  deps: ExecuteDeps,
  { call, coerced }: Run,
  collection: string,
  root: Root,
  selection: Selection,
  keys: readonly Key[],
): Promise<string> {
  if (keys.length === 0) return '[]';
  const { terms = {}, shown } = selection;
  const filtered = CUTS.some((name) => terms[name] !== undefined)
    ? await among(deps, collection, keys, terms)
    : undefined;
  const asList = filtered && { terms: filtered, shown };
  const asked = asList ? { selection: () => asList } : { selection: () => selection, keys, text: root.text(coerced) };
  return unlessForbidden(async () => textOf(await deps.items.select(call.caller, collection, asked)), '[]');
}

/** What has no meaning beside a list of keys, which is an order and a number by itself. */
const CUTS = ['sort', 'limit', 'offset', 'page'] as const;

/** Undefined where rows have no key: they stay in the order they were written. */
async function among(
  { schema }: ExecuteDeps,
  name: string,
  keys: readonly Key[],
  terms: Terms,
): Promise<Terms | undefined> {
  const collection = (await schema.overview()).collections.get(name);
  const columns = collection?.hasKey ? collection.key?.parts : undefined;
  if (!collection?.primary && !columns) return undefined;
  const those = columns
    ? { _or: keys.map((key) => valuesOf(columns, key)) }
    : { [collection?.primary as string]: { _in: keys } };
  const filter = { _and: [those, terms.filter ?? {}] };
  // Without a word about pages all rows written are meant, and not as many as a list has by default.
  return { ...terms, filter, limit: terms.limit ?? (terms.page === undefined ? -1 : undefined) };
}

/** A filter that holds for the row of a key of several columns; an empty text is compared with by its own operator. */
const valuesOf = (columns: readonly Field[], key: Key): object => {
  const texts = splitKey(String(key));
  return Object.fromEntries(
    columns.map(({ name }, at) => [name, texts[at] === '' ? { _empty: true } : { _eq: texts[at] }]),
  );
};

async function unlessForbidden(read: () => Promise<string>, otherwise: string): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure && error.code === 'FORBIDDEN') return otherwise;
    throw error;
  }
}
