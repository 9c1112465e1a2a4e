import type { Operation, Operations } from '../flows/contract.ts';
import type { PackageOperations } from './model.ts';

/** Registers flow operations in the name of packages. */
export const createPackageOperations = (
  known: Operations,
  contribute: (operation: Operation) => () => void,
): PackageOperations => ({
  find: known.find,
  owners: known.owners,
  ids: known.ids,
  register: (owner, operation) => contribute({ ...operation, owner }),
});
