import type { IdentityApi, Log, PackagesApi } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Broker } from '../broker/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { PackageFlowOperations, PackageMounts } from '../extensions/contract.ts';
import type { Files } from '../files/contract.ts';
import type { Routing } from '../http/contract.ts';
import type { Items } from '../items/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { Schedule } from '../schedule/contract.ts';
import type { Schema, SchemaWrites } from '../schema/contract.ts';

/** What loading and running code with full authority needs. */
export interface FullDeps {
  readonly log: Log;
  readonly packages: PackagesApi;
  readonly identity: IdentityApi;
  readonly subjects: Broker;
  readonly settings: ExtensionSettings;
  readonly access: Access;
  readonly files: Files;
  readonly items: Items;
  readonly query: QueryEngine;
  readonly schema: Schema;
  readonly schemaWrites: SchemaWrites;
  readonly routing: Routing;
  readonly schedule: Schedule;
  readonly mounts: PackageMounts;
  readonly operations: PackageFlowOperations;
}
