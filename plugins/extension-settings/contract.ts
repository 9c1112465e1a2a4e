import { service } from '#kernel';

export interface SettingDeclaration {
  readonly type: 'string' | 'number' | 'boolean';
  readonly scope: 'global' | 'collection';
  readonly secret?: { readonly source: 'inline' | 'config' };
  readonly appReadable: boolean;
  readonly presentation?: {
    readonly order?: number;
    readonly width?: 'half' | 'full';
    readonly interface?: 'system-display-template';
  };
}

/** The map of a manifest's `settings` with defaults filled in. */
export type Declaration = Readonly<Record<string, SettingDeclaration>>;

export interface SettingsReason {
  readonly code: 'SETTINGS_SUBJECT_INVALID' | 'SETTINGS_SUBJECT_DUPLICATE' | 'SETTINGS_SUBJECT_CONFIG_COLLISION';
  readonly detail: string;
}

/** Shown in an extension's record (specification, "Extension info record"). */
export type SettingsStatus =
  | { readonly status: 'available' }
  | { readonly status: 'unavailable'; readonly reason: SettingsReason };

/** A package that declares settings, as found on disk. */
export interface SettingsOwner {
  /** Of the discovered package, not its name: two may have one name. */
  readonly id: string;
  readonly name: string;
  readonly declaration: Declaration;
}

/** Read-only, for the package's own code in this process: a secret is its raw value. */
export interface SettingsReader {
  get(key: string, options?: { readonly scope: 'collection'; readonly collection: string }): Promise<unknown>;
}

export interface ExtensionSettings {
  /** What is wrong with a manifest's `settings`, and the map with defaults filled in. */
  declare(raw: unknown): { readonly problems: readonly string[]; readonly declaration: Declaration };
  /** Replaces all that is known: called at each load, before any extension's code runs. Answers each owner's status by id. */
  load(owners: readonly SettingsOwner[]): ReadonlyMap<string, SettingsStatus>;
  /** `get` answers null wherever there is no value of the declared type. */
  reader(owner: SettingsOwner): SettingsReader;
}

export const extensionSettings = service<ExtensionSettings>('extensionSettings', { version: '1.0.0' });
