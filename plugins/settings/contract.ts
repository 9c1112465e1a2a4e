import { service } from '#kernel';

/** The settings that the service itself follows, as they stand in the database (specification, "Settings record"). */
export interface SettingsValues {
  readonly project_name: string;
  readonly project_descriptor: string | null;
  readonly project_url: string | null;
  readonly project_color: string | null;
  /** Ids of files that every visitor may see. */
  readonly project_logo: string | null;
  readonly public_foreground: string | null;
  readonly public_background: string | null;
  readonly public_favicon: string | null;
  readonly public_note: string | null;
  readonly default_language: string;
  /** `auto`, `light` or `dark`; other values mean `auto`. */
  readonly default_appearance: string;
  readonly custom_css: string | null;
  /** A regular expression that passwords have to match, as it was checked when it was written. */
  readonly auth_password_policy: string | null;
  /** Failed sign-ins after which a user is suspended, at least 1; null: without a limit. */
  readonly auth_login_attempts: number | null;
  /** Whether visitors may register as users. */
  readonly public_registration: boolean;
  /** Whether a registered user is active only once the e-mail address is confirmed. */
  readonly public_registration_verify_email: boolean;
  /** The id of the role of registered users; null for none. */
  readonly public_registration_role: string | null;
  /** A filter on `email`, in lower case, that an address has to match to be registered; null for any address. */
  readonly public_registration_email_filter: Record<string, unknown> | null;
  /** Which transformations clients may request: `all` or `presets`; anything else means none. */
  readonly storage_asset_transform: string;
  /** The presets as stored: a list, or null. The plugin that uses a preset checks it. */
  readonly storage_asset_presets: readonly Record<string, unknown>[] | null;
  readonly storage_default_folder: string | null;
}

/** Settings that name a file which every visitor sees: the sign-in page is made of them. */
export const PUBLIC_FILE_SETTINGS = [
  'project_logo',
  'public_foreground',
  'public_background',
  'public_favicon',
] as const;

/** Reads the settings row for plugins. Provided by `settings`. */
export interface SettingsService {
  /**
   * The current settings from memory, which every process clears when the row changes. Defaults where there is no row yet.
   * @throws SERVICE_UNAVAILABLE where the database has to be read and is not reached.
   */
  current(): Promise<SettingsValues>;
}

/** The service that reads the settings row, for plugins that act by a setting. */
export const settings = service<SettingsService>('settings', { version: '1.0.0' });
