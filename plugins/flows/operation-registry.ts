import type { FlowOperationKind, FlowOperationRegistry } from './contract.ts';

interface ContributedOperation {
  readonly owner: string;
  readonly value: FlowOperationKind;
}

/** Finds operations by id. Several with one id are all ambiguous, so that none can replace another. */
export function createFlowOperationRegistry(all: readonly ContributedOperation[]): FlowOperationRegistry {
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
