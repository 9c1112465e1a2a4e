import { Failure } from '#kernel';
import type { GroupSelection, RowSelection, SelectionItem } from '../../../plugins/query/contract.ts';
import { type QueryCase, type QueryCaseAnswer, type QueryTestDatabase, runCaseAsJsonText } from './query-cases.ts';

export const columnSelectionItem = (field: string, key = field): SelectionItem => ({ kind: 'column', key, field });

export const relatedSelectionItem = (
  field: string,
  shown: readonly SelectionItem[],
  terms: RowSelection['parameters'] = {},
  key = field,
): SelectionItem => ({ kind: 'related', key, field, selection: { parameters: terms, items: shown } });

export const typenameSelectionItem = (
  value: string,
  key = '__typename',
): Extract<SelectionItem, { kind: 'constant' }> => ({
  kind: 'constant',
  key,
  value,
});

/** Runs a selection and returns its answer, or the code and path of its Failure. */
export async function runSelection(
  ground: QueryTestDatabase,
  collection: string,
  selection: RowSelection | GroupSelection,
  rest: Partial<QueryCase> = {},
): Promise<QueryCaseAnswer> {
  try {
    const { data, meta } = await runCaseAsJsonText({ query: {}, ...rest, collection }, ground, selection);
    return { data: JSON.parse(data ?? 'null'), ...(meta ? { meta: JSON.parse(meta) } : {}) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const path = (error.extensions as { path?: unknown } | undefined)?.path;
    return { error: { code: error.code, ...(path === undefined ? {} : { path }) } };
  }
}
