import type { GraphqlField } from '../contract.ts';

export interface Owned {
  readonly owner: string;
  readonly value: GraphqlField;
}

export interface Distinct {
  readonly kept: readonly Owned[];
  readonly refused: readonly Owned[];
}

/** The name a definition begins with. */
export const nameOf = (definition: string): string => /^\w*/.exec(definition)?.[0] ?? '';

/** A root has each name once. Of several who bring the same, the first has it: nobody takes a name from the product. */
export function distinct(all: readonly Owned[]): Distinct {
  const taken = new Map<string, Owned>();
  for (const one of all) {
    const { scope, operation, definition } = one.value;
    const place = `${scope} ${operation} ${nameOf(definition)}`;
    if (!taken.has(place)) taken.set(place, one);
  }
  const kept = [...taken.values()];
  return { kept, refused: all.filter((one) => !kept.includes(one)) };
}
