import type { Operation, Operations } from './contract.ts';

interface Offered {
  readonly owner: string;
  readonly value: Operation;
}

/** Which operation an id stands for. Of several none does, so that none can take the place of another. */
export function createRegistry(all: readonly Offered[]): Operations {
  const byId = new Map<string, Offered[]>();
  for (const one of all) byId.set(one.value.id, [...(byId.get(one.value.id) ?? []), one]);
  const offered = (id: string): readonly Offered[] => byId.get(id) ?? [];

  return {
    find(id) {
      const found = offered(id);
      return found.length > 1 ? 'ambiguous' : found[0]?.value;
    },
    owners: (id) => offered(id).map(({ owner, value }) => value.owner ?? owner),
    ids: () => [...byId.keys()],
  };
}
