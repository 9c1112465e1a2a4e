import type { GraphqlField } from '../contract.ts';

export interface OwnedField {
  readonly owner: string;
  readonly value: GraphqlField;
}

export interface DistinctFields {
  readonly kept: readonly OwnedField[];
  readonly refused: readonly OwnedField[];
}

/** The field name at the beginning of a definition. */
export const fieldNameOf = (definition: string): string => /^\w*/.exec(definition)?.[0] ?? '';

/**
 * Keeps the first of several fields with one name in one root, so that no extension replaces a field of a core plugin.
 */
export function keepFirstByName(all: readonly OwnedField[]): DistinctFields {
  const firstByName = new Map<string, OwnedField>();
  for (const one of all) {
    const { scope, operation, definition } = one.value;
    const rootKey = `${scope} ${operation} ${fieldNameOf(definition)}`;
    if (!firstByName.has(rootKey)) firstByName.set(rootKey, one);
  }
  const kept = [...firstByName.values()];
  return { kept, refused: all.filter((one) => !kept.includes(one)) };
}
