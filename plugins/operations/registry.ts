import type { Operation, Operations } from './contract.ts';

interface Entry {
  readonly owner: string;
  readonly operation: Operation;
}

/** Who answers to an id. Of several nobody does, so that none can take the place of another. */
export function createRegistry(): Operations {
  const byId = new Map<string, Entry[]>();
  const entriesOf = (id: string): readonly Entry[] => byId.get(id) ?? [];

  return {
    register(owner, operation) {
      const { id } = operation;
      const entry: Entry = { owner, operation };
      byId.set(id, [...entriesOf(id), entry]);
      return () => {
        const rest = entriesOf(id).filter((one) => one !== entry);
        if (rest.length > 0) byId.set(id, rest);
        else byId.delete(id);
      };
    },
    find(id) {
      const entries = entriesOf(id);
      return entries.length > 1 ? 'ambiguous' : entries[0]?.operation;
    },
    owners: (id) => entriesOf(id).map(({ owner }) => owner),
    ids: () => [...byId.keys()],
  };
}
