import type { Log } from '#kernel';
import type { PackageGrantBroker } from '../broker/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type {
  ExtensionStatusControl,
  ManifestDeps,
  PackageFlowOperations,
  PackageMountRegistry,
} from '../extensions/contract.ts';
import type { RoutingService } from '../http/contract.ts';
import type { Sandbox } from '../sandbox/contract.ts';
import type { SchemaService } from '../schema/contract.ts';

/** Shared by `extensions`, as its manifest declares it. */
export interface HostVersionCheckConfig {
  readonly EXTENSIONS_HOST_CHECK: 'warn' | 'strict';
}

/** What the validation and the load of confined packages need. */
export interface ConfinedDeps extends ManifestDeps {
  readonly config: HostVersionCheckConfig;
  readonly log: Log;
  readonly subjects: PackageGrantBroker;
  readonly settings: ExtensionSettings;
  readonly sandbox: Sandbox;
  readonly schema: SchemaService;
  readonly routing: RoutingService;
  readonly mounts: PackageMountRegistry;
  readonly operations: PackageFlowOperations;
  readonly loader: Pick<ExtensionStatusControl, 'reportFailed' | 'reportRecovered'>;
}
