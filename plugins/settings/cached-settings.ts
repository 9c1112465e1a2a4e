import type { InterProcessBus } from '../cluster/contract.ts';
import { createAnnouncedCache, createChangeNotificationMigration } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';
import { SETTINGS_COLLECTION } from './collections.ts';
import type { SettingsService, SettingsValues } from './contract.ts';

const CHANGED = 'settings.changed';

/** The settings of a service without a settings row: the defaults of the columns. */
const DEFAULTS: SettingsValues = {
  project_name: 'Tenon',
  project_descriptor: null,
  project_url: null,
  project_color: null,
  project_logo: null,
  public_foreground: null,
  public_background: null,
  public_favicon: null,
  public_note: null,
  default_language: 'en-US',
  default_appearance: 'auto',
  custom_css: null,
  auth_password_policy: null,
  auth_login_attempts: 25,
  public_registration: false,
  public_registration_verify_email: true,
  public_registration_role: null,
  public_registration_email_filter: null,
  storage_asset_transform: 'all',
  storage_asset_presets: null,
  storage_default_folder: null,
};
/** Settings whose null means the default. */
const NEVER_NULL = ['project_name', 'default_language', 'default_appearance'] as const;

export interface CachedSettings extends SettingsService {
  forget(): void;
}

/** Caches the settings row: it is read once, and again after a change in any process or by SQL. */
export function createCachedSettings(
  db: Pick<Db, 'query' | 'read' | 'sql' | 'isInUnitOfWork'>,
  bus: InterProcessBus,
): CachedSettings {
  const CURRENT = db.sql`select project_name, project_descriptor, project_url, project_color, project_logo, public_foreground,
    public_background, public_favicon, public_note, default_language, default_appearance, custom_css, auth_password_policy, auth_login_attempts, storage_asset_transform,
    storage_asset_presets, storage_default_folder, public_registration, public_registration_verify_email, public_registration_role,
    public_registration_email_filter from ${db.read(SETTINGS_COLLECTION)} limit 1`;
  async function read(): Promise<SettingsValues> {
    const { rows } = await db.query<SettingsValues>(CURRENT, [], { name: 'settings_current' });
    const [row] = rows;
    if (!row) return DEFAULTS;
    const filled = NEVER_NULL.map((name) => [name, row[name] ?? DEFAULTS[name]]);
    return { ...row, ...Object.fromEntries(filled) };
  }

  const known = createAnnouncedCache<SettingsValues>({
    bus,
    channel: CHANGED,
    max: 1,
    read: async () => ({ value: await read(), cacheable: true }),
  });
  return {
    // A unit of work may have changed the settings row itself, and may still roll back, so it does not read from the cache.
    current: () => (db.isInUnitOfWork() ? read() : known.get(SETTINGS_COLLECTION)),
    forget: () => known.forget(),
  };
}

/** The migration that creates a trigger, which notifies every process when the settings row changes. */
export const createSettingsTriggerMigration = (db: Db): Migration =>
  createChangeNotificationMigration({
    id: '2026-11-22-announce-settings',
    name: 'platform_settings_changed',
    channel: CHANGED,
    tables: [db.own(SETTINGS_COLLECTION)],
  });
