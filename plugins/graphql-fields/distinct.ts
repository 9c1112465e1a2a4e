import { type GraphqlField, nameOf } from './contract.ts';

interface Owned {
  readonly owner: string;
  readonly value: GraphqlField;
}

/** A root has each name once. Of several who bring the same, the first has it: nobody takes a name from the product. */
export function distinct(all: readonly Owned[]): {
  readonly kept: readonly Owned[];
  readonly refused: readonly Owned[];
} {
  const taken = new Map<string, Owned>();
  for (const one of all) {
    const { scope, operation, definition } = one.value;
    const place = `${scope} ${operation} ${nameOf(definition)}`;
    if (!taken.has(place)) taken.set(place, one);
  }
  const kept = [...taken.values()];
  return { kept, refused: all.filter((one) => !kept.includes(one)) };
}
