import type { GraphqlField } from '../contract.ts';

export interface OwnedField {
  readonly owner: string;
  readonly value: GraphqlField;
}

export interface DistinctFields {
  readonly kept: readonly OwnedField[];
  readonly refused: readonly OwnedField[];
}

/** The name a definition begins with. */
export const fieldNameOf = (definition: string): string => /^\w*/.exec(definition)?.[0] ?? '';

/** A root has each name once. Of several who bring the same, the first has it: nobody takes a name from the product. */
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
