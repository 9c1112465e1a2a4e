import { Failure } from '#kernel';
import type { Key } from '../../items/contract.ts';
import type { RowSelection, SelectionListParameters } from '../../query/contract.ts';
import { splitCompositeKey } from '../../query/library.ts';
import type { Field } from '../../schema/contract.ts';
import type { SelectedRootField } from '../plan/root-fields.ts';
import { graphqlFieldToSelection } from '../plan/selection.ts';
import { createGraphqlSelectionContext, type GraphqlExecutionDeps, type GraphqlOperationRun } from './operation-run.ts';
import { readResultTextOf } from './reads.ts';

/**
 * Translates the selection of a mutation, and checks it with its conditions, before anything is written.
 * @throws the errors that reading back would have.
 */
export async function precheckMutationSelection(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  { field, nodes }: SelectedRootField,
): Promise<RowSelection> {
  const conditions: [collection: string, terms: SelectionListParameters][] = [];
  const reading = createGraphqlSelectionContext(deps, run, (...one) => conditions.push(one));
  const selection = graphqlFieldToSelection(reading, field, nodes);
  for (const [collection, terms] of conditions) await deps.items.checkQuery(run.call.caller, collection, terms);
  return selection;
}

/** Reads a written row under the caller's permissions; `null` when the caller may not read it. */
export function readBackRow(
  { items }: GraphqlExecutionDeps,
  { call, coercedVariables }: GraphqlOperationRun,
  collection: string,
  root: SelectedRootField,
  selection: RowSelection,
  key: Key,
): Promise<string> {
  const request = { selection: () => selection, key, text: root.cacheText(coercedVariables) };
  return readUnlessForbidden(
    async () => readResultTextOf(await items.select(call.caller, collection, request)),
    'null',
  );
}

/** Reads written rows in the order of the write, or in the order and number that the document sets. */
export async function readBackRows(
  deps: GraphqlExecutionDeps,
  { call, coercedVariables }: GraphqlOperationRun,
  collection: string,
  root: SelectedRootField,
  selection: RowSelection,
  keys: readonly Key[],
): Promise<string> {
  if (keys.length === 0) return '[]';
  const { parameters: ownParameters = {}, items } = selection;
  const parameters = PAGE_PARAMETERS.some((name) => ownParameters[name] !== undefined)
    ? await withKeyFilter(deps, collection, keys, ownParameters)
    : undefined;
  const listSelection = parameters && { parameters, items };
  const request = listSelection
    ? { selection: () => listSelection }
    : { selection: () => selection, keys, text: root.cacheText(coercedVariables) };
  return readUnlessForbidden(
    async () => readResultTextOf(await deps.items.select(call.caller, collection, request)),
    '[]',
  );
}

/** Parameters that have no meaning for a list of keys, which sets order and number itself. */
const PAGE_PARAMETERS = ['sort', 'limit', 'offset', 'page'] as const;

/**
 * List parameters with a filter for the keys; undefined for rows without a key, which stay in the order of the write.
 */
async function withKeyFilter(
  { schema }: GraphqlExecutionDeps,
  name: string,
  keys: readonly Key[],
  terms: SelectionListParameters,
): Promise<SelectionListParameters | undefined> {
  const collection = (await schema.snapshot()).collections.get(name);
  const columns = collection?.hasKey ? collection.key?.parts : undefined;
  if (!collection?.primary && !columns) return undefined;
  const keyFilter = columns
    ? { _or: keys.map((key) => toKeyFilter(columns, key)) }
    : { [collection?.primary as string]: { _in: keys } };
  const filter = { _and: [keyFilter, terms.filter ?? {}] };
  // Without a limit or page all written rows are answered, not the default number of a list.
  return { ...terms, filter, limit: terms.limit ?? (terms.page === undefined ? -1 : undefined) };
}

/** A filter for the row with a key of several columns; an empty text has an operator of its own. */
const toKeyFilter = (columns: readonly Field[], key: Key): object => {
  const texts = splitCompositeKey(String(key));
  return Object.fromEntries(
    columns.map(({ name }, at) => [name, texts[at] === '' ? { _empty: true } : { _eq: texts[at] }]),
  );
};

async function readUnlessForbidden(read: () => Promise<string>, otherwise: string): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure && error.code === 'FORBIDDEN') return otherwise;
    throw error;
  }
}
