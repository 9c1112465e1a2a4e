import { Failure } from '#kernel';
import type { GroupSelection, Selected, Selection } from '../../../plugins/query/contract.ts';
import { type Case, type CaseAnswer, type Ground, textOf } from './harness.ts';

export const column = (field: string, key = field): Selected => ({ kind: 'column', key, field });

export const related = (
  field: string,
  shown: readonly Selected[],
  terms: Selection['terms'] = {},
  key = field,
): Selected => ({ kind: 'related', key, field, selection: { terms, shown } });

export const typename = (value: string, key = '__typename'): Extract<Selected, { kind: 'constant' }> => ({
  kind: 'constant',
  key,
  value,
});

/** Runs a selection: its answer, or the code and path of its failure. */
export async function runSelection(
  ground: Ground,
  collection: string,
  selection: Selection | GroupSelection,
  rest: Partial<Case> = {},
): Promise<CaseAnswer> {
  try {
    const { data, meta } = await textOf({ query: {}, ...rest, collection }, ground, selection);
    return { data: JSON.parse(data ?? 'null'), ...(meta ? { meta: JSON.parse(meta) } : {}) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const path = (error.extensions as { path?: unknown } | undefined)?.path;
    return { error: { code: error.code, ...(path === undefined ? {} : { path }) } };
  }
}
