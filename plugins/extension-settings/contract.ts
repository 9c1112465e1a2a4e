import { type Caller, service } from '#kernel';

/** One setting that a manifest declares, with defaults filled in. */
export interface SettingDeclaration {
  readonly type: 'string' | 'number' | 'boolean';
  /** `collection`: one value for each collection. */
  readonly scope: 'global' | 'collection';
  /** Kept encrypted (`inline`), or read from a variable of the environment (`config`). */
  readonly secret?: { readonly source: 'inline' | 'config' };
  /** Whether users of the app may read the value; never for a secret. */
  readonly appReadable: boolean;
  /** How the app shows it. `order`: smaller first. */
  readonly presentation?: {
    readonly order?: number;
    readonly width?: 'half' | 'full';
    readonly interface?: 'system-display-template';
  };
}

/** The map of a manifest's `settings` with defaults filled in. */
export type SettingsDeclaration = Readonly<Record<string, SettingDeclaration>>;

/**
 * Why the settings of a package are unavailable: its name cannot own settings, another package has the same name, or
 * its secrets would share a variable of the environment with those of another package. `detail`: one line of at most
 * 300 characters.
 */
export interface SettingsUnavailableReason {
  readonly code: 'SETTINGS_SUBJECT_INVALID' | 'SETTINGS_SUBJECT_DUPLICATE' | 'SETTINGS_SUBJECT_CONFIG_COLLISION';
  readonly detail: string;
}

/** Shown in an extension's record (specification, "Extension info record"). */
export type SettingsStatus =
  | { readonly status: 'available' }
  | { readonly status: 'unavailable'; readonly reason: SettingsUnavailableReason };

/** A package that declares settings, as found on disk. */
export interface SettingsOwner {
  /** The id of the package; two packages may have one name. */
  readonly id: string;
  readonly name: string;
  readonly declaration: SettingsDeclaration;
}

/** Reads the settings of a package for its own code in this process: a secret is its raw value. */
export interface SettingsReader {
  /**
   * The value, or null if there is none of the declared type.
   * @throws SERVICE_UNAVAILABLE if the database cannot be reached.
   */
  get(key: string, options?: { readonly scope: 'collection'; readonly collection: string }): Promise<unknown>;
}

/**
 * Settings of packages: declarations and values. Provided by `extension-settings`, used by the plugins that load
 * packages.
 */
export interface ExtensionSettings {
  /** Validates a manifest's `settings`: problems, and the map with defaults filled in. */
  parseDeclaration(raw: unknown): { readonly problems: readonly string[]; readonly declaration: SettingsDeclaration };
  /** Replaces all owners. Called at each load, before any extension's code runs. Answers each owner's status by id. */
  setOwners(owners: readonly SettingsOwner[]): ReadonlyMap<string, SettingsStatus>;
  /** Creates a reader of one owner's values, for its own code. */
  createReader(owner: SettingsOwner): SettingsReader;
}

/** For `extensions` and the loaders of its kinds. */
export const extensionSettings = service<ExtensionSettings>('extensionSettings', { version: '1.0.0' });

/** A stored value of a setting, as `/extension-settings` names it. */
export interface ExtensionSettingValue {
  /** The name of the package. */
  readonly subject: string;
  /** `global` or `collection`. */
  readonly scope: string;
  /** A collection in the scope `collection`, else empty. */
  readonly scope_key: string;
  readonly key: string;
  readonly value: unknown;
}

/** Values of all packages, without secrets, for the plugin that copies them between databases. */
export interface ExtensionSettingValues {
  /** Ordered by package, scope, scope key and key. @throws SERVICE_UNAVAILABLE if the database cannot be reached. */
  list(): Promise<readonly ExtensionSettingValue[]>;
  /**
   * Stores a value. Where the package is installed it is checked like a request.
   * @throws INVALID_PAYLOAD for a secret, and for a wrong key, scope or value.
   */
  put(caller: Caller, setting: ExtensionSettingValue): Promise<void>;
}

/** For the plugin `schema-snapshots`. */
export const extensionSettingValues = service<ExtensionSettingValues>('extension-setting-values', {
  version: '1.0.0',
  callers: { put: 0 },
  coreOnly: true,
});

/** The text that is shown instead of a secret. */
export { CONCEALED_VALUE_MASK } from '../access/contract.ts';
