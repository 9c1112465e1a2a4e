import type { FlowOperationKind, FlowOperationRegistry } from '../flows/contract.ts';
import type { PackageFlowOperations } from './extension-types.ts';

/** Registers flow operations in the name of packages. */
export const createPackageFlowOperations = (
  known: FlowOperationRegistry,
  contribute: (operation: FlowOperationKind) => () => void,
): PackageFlowOperations => ({
  find: known.find,
  owners: known.owners,
  ids: known.ids,
  register: (owner, operation) => contribute({ ...operation, owner }),
});
