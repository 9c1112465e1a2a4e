import type { IdentityApi, Log, PackagesApi } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { PackageGrantBroker } from '../broker/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { PackageFlowOperations, PackageMountRegistry } from '../extensions/contract.ts';
import type { FileStorageService } from '../files/contract.ts';
import type { RoutingService } from '../http/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { JobScheduler } from '../schedule/contract.ts';
import type { SchemaService, SchemaWrites } from '../schema/contract.ts';
import type { ServiceClass } from './contract.ts';

/** What loading and running code with full authority needs. */
export interface FullAuthorityDeps {
  readonly log: Log;
  readonly packages: PackagesApi;
  readonly identity: IdentityApi;
  readonly subjects: PackageGrantBroker;
  readonly settings: ExtensionSettings;
  readonly access: AccessControl;
  readonly files: FileStorageService;
  readonly items: ItemsEngine;
  readonly query: QueryEngine;
  readonly schema: SchemaService;
  readonly schemaWrites: SchemaWrites;
  readonly routing: RoutingService;
  readonly schedule: JobScheduler;
  readonly mounts: PackageMountRegistry;
  readonly operations: PackageFlowOperations;
  /** True in a process that runs a command of a package and does not serve: it has no part in schedules. */
  readonly isCommandProcess: () => boolean;
  /** Classes of `services` that other plugins contribute. */
  readonly serviceClasses: () => readonly ServiceClass[];
}
