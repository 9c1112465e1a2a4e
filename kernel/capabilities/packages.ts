import type { Caller } from '../caller.ts';
import type { Settings } from '../config/settings.ts';
import type { PluginInfo } from '../lifecycle/discover.ts';
import { type AnyCapability, type Authority, authorities, type Capability } from './capability.ts';
import type { AuditLine } from './grant.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';

/** Loads and unloads plugins in this process while the service runs: the same steps as for core plugins. */
export interface PluginLoading {
  /** Plugins that have registered, core plugins first. */
  loaded(): readonly PluginInfo[];
  /** Reads and checks the manifest of the plugin in a folder, without running its code. @throws BootFailure */
  inspect(folder: string): Promise<PluginInfo>;
  /** All authorities that the manifest of the plugin requests. */
  describe(plugin: PluginInfo): readonly Authority[];
  /** config → register → migrate. A failure unloads the plugin. @throws BootFailure */
  load(plugin: PluginInfo, onRegistered?: () => Promise<void>): Promise<void>;
  /** Runs its start hooks. A failure unloads the plugin. @throws BootFailure */
  start(plugin: PluginInfo): Promise<void>;
  /** Runs its stop hooks, last in first out, and removes all that it added. */
  unload(plugin: PluginInfo): Promise<void>;
}

/** For core plugins that run third-party code. */
export interface PackagesApi extends PluginLoading {
  capabilities(): ReadonlyMap<string, AnyCapability>;
  /** A caller without a user's permissions for a package; counted under its name. */
  asSystem(owner: string, reason: string): Caller;
  /** The same caller, whose changes history attributes to `owner`. */
  attribute(caller: Caller, owner: string): Caller;
  /** Counts in the ledger what a package did. */
  readonly record: Ledger['record'];
  /** The ledger: what plugins and packages have done since start. */
  ledgerEntries(): readonly LedgerEntry[];
  /** The audit: what plugins, and packages by `report`, may do. */
  auditLines(): readonly AuditLine[];
  /** Adds the lines of packages to the audit. */
  addAuditLines(lines: () => readonly AuditLine[]): void;
  /** Removes the listeners of a package, and keeps those of a core plugin with the same name. */
  removeListeners(owner: string): void;
  /** The environment with all declared settings. */
  settings(): Settings;
}

/** `api` is bound as it is: only core plugins hold it. */
export const packagesCapability = (api: PackagesApi): Capability<true, PackagesApi> => ({
  name: 'packages',
  member: 'packages',
  schema: { const: true },
  coreOnly: true,
  bind: () => api,
  describe: () => authorities('runs', ['third-party packages'], 'and accounts for them'),
  widens: (before) => before === undefined,
});
