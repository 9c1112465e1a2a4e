import type { Caller } from '../caller.ts';
import type { SettingsStore } from '../config/settings.ts';
import type { PluginInfo } from '../lifecycle/discover.ts';
import { type AnyCapability, type Authority, authorities, type Capability } from './capability.ts';
import type { AuditLine } from './grant.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';

/** Loads and unloads plugins in this process while the service runs: the same steps as for core plugins. */
export interface PluginLoaderApi {
  /** Plugins that have registered, core plugins first. */
  loaded(): readonly PluginInfo[];
  /** Reads and checks the manifest of the plugin in a folder, without running its code. @throws BootFailure */
  inspect(folder: string): Promise<PluginInfo>;
  /** All authorities that the manifest of the plugin requests. */
  describe(plugin: PluginInfo): readonly Authority[];
  /** config → register → migrate. A failure unloads the plugin. @throws BootFailure */
  load(plugin: PluginInfo, onRegistered?: () => Promise<void>): Promise<void>;
  /** Runs the plugin's start hooks. A failure unloads the plugin. @throws BootFailure */
  start(plugin: PluginInfo): Promise<void>;
  /** Runs the plugin's stop hooks, last in first out, and removes all that the plugin added. */
  unload(plugin: PluginInfo): Promise<void>;
}

/** What a plugin with the capability `packages` holds: a core plugin that loads and runs third-party code. */
export interface PackagesApi extends PluginLoaderApi {
  capabilities(): ReadonlyMap<string, AnyCapability>;
  /** Returns a caller for a package to which no user's permissions apply, and counts it under the name of the package. */
  asSystem(owner: string, reason: string): Caller;
  /** Copies a caller so that the activity log names `owner` as the code that acted. */
  attribute(caller: Caller, owner: string): Caller;
  /** Counts in the ledger what a package did. */
  readonly record: Ledger['record'];
  /** The ledger: what plugins and packages have done since start. */
  ledgerEntries(): readonly LedgerEntry[];
  /** The audit: what plugins, and packages through `addAuditLines`, may do. */
  auditLines(): readonly AuditLine[];
  /** Adds the lines of packages to the audit. */
  addAuditLines(lines: () => readonly AuditLine[]): void;
  /** Removes the listeners of a package, and keeps those of a core plugin with the same name. */
  removeListeners(owner: string): void;
  /** The environment with all declared settings. */
  settings(): SettingsStore;
}

/** Creates the capability `packages`. All plugins that hold it get the same object, since only core plugins can. */
export const packagesCapability = (api: PackagesApi): Capability<true, PackagesApi> => ({
  name: 'packages',
  member: 'packages',
  schema: { const: true },
  coreOnly: true,
  bind: () => api,
  describe: () => authorities('runs', ['third-party packages'], 'and accounts for them'),
  widens: (before) => before === undefined,
});
