import type { FlowOperationKind, FlowOperations } from '../flows/contract.ts';
import type { PackageOperations } from './model.ts';

/** Registers flow operations in the name of packages. */
export const createPackageOperations = (
  known: FlowOperations,
  contribute: (operation: FlowOperationKind) => () => void,
): PackageOperations => ({
  find: known.find,
  owners: known.owners,
  ids: known.ids,
  register: (owner, operation) => contribute({ ...operation, owner }),
});
