import type { ContributedGraphqlField } from '../contract.ts';

export interface OwnedGraphqlField {
  readonly owner: string;
  readonly value: ContributedGraphqlField;
}

export interface DistinctGraphqlFields {
  readonly kept: readonly OwnedGraphqlField[];
  readonly refused: readonly OwnedGraphqlField[];
}

/** The field name at the beginning of a definition. */
export const parseGraphqlFieldName = (definition: string): string => /^\w*/.exec(definition)?.[0] ?? '';

/**
 * Keeps the first of several fields with one name in one root, so that no extension replaces a field of a core plugin.
 */
export function separateDuplicateGraphqlFields(all: readonly OwnedGraphqlField[]): DistinctGraphqlFields {
  const firstByName = new Map<string, OwnedGraphqlField>();
  for (const one of all) {
    const { scope, operation, definition } = one.value;
    const rootKey = `${scope} ${operation} ${parseGraphqlFieldName(definition)}`;
    if (!firstByName.has(rootKey)) firstByName.set(rootKey, one);
  }
  const kept = [...firstByName.values()];
  return { kept, refused: all.filter((one) => !kept.includes(one)) };
}
