import type { Operation, Operations } from '../flows/contract.ts';
import type { OperationOffers } from './model.ts';

/** Adds steps of flows in the name of packages. */
export const createOffers = (known: Operations, contribute: (operation: Operation) => () => void): OperationOffers => ({
  find: known.find,
  owners: known.owners,
  ids: known.ids,
  register: (owner, operation) => contribute({ ...operation, owner }),
});
