import { Failure, fail } from '#kernel';
import type { Key } from '../../items/contract.ts';
import type { Selection, Terms } from '../../query/contract.ts';
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
  const asList = CUTS.some((name) => terms[name] !== undefined)
    ? { terms: await among(deps, collection, keys, terms), shown }
    : undefined;
  const asked = asList ? { selection: () => asList } : { selection: () => selection, keys, text: root.text(coerced) };
  return unlessForbidden(async () => textOf(await deps.items.select(call.caller, collection, asked)), '[]');
}

/** What has no meaning beside a list of keys, which is an order and a number by itself. */
const CUTS = ['sort', 'limit', 'offset', 'page'] as const;

async function among({ schema }: ExecuteDeps, collection: string, keys: readonly Key[], terms: Terms): Promise<Terms> {
  const { collections } = await schema.overview();
  const primary = collections.get(collection)?.primary;
  if (!primary) throw fail('FORBIDDEN', `${collection} has no key`);
  const filter = { _and: [{ [primary]: { _in: keys } }, terms.filter ?? {}] };
  // Without a word about pages all rows written are meant, and not as many as a list has by default.
  return { ...terms, filter, limit: terms.limit ?? (terms.page === undefined ? -1 : undefined) };
}

async function unlessForbidden(read: () => Promise<string>, otherwise: string): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure && error.code === 'FORBIDDEN') return otherwise;
    throw error;
  }
}
