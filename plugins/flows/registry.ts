import type { Operation, Operations } from './contract.ts';

interface ContributedOperation {
  readonly owner: string;
  readonly value: Operation;
}

/** Which operation an id stands for. Of several none does, so that none can take the place of another. */
export function createRegistry(all: readonly ContributedOperation[]): Operations {
  const byId = new Map<string, ContributedOperation[]>();
  for (const one of all) byId.set(one.value.id, [...(byId.get(one.value.id) ?? []), one]);
  const operationsWithId = (id: string): readonly ContributedOperation[] => byId.get(id) ?? [];

  return {
    find(id) {
      const found = operationsWithId(id);
      return found.length > 1 ? 'ambiguous' : found[0]?.value;
    },
    owners: (id) => operationsWithId(id).map(({ owner, value }) => value.owner ?? owner),
    ids: () => [...byId.keys()],
  };
}
