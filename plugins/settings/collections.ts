import type { SystemCollection, SystemField } from '../schema/contract.ts';

export const SETTINGS_COLLECTION = 'platform_settings';

const string = (field: string, maxLength = 255, fallback?: string): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable: true,
  ...(fallback === undefined ? {} : { default: `'${fallback}'` }),
});
const text = (field: string): SystemField => ({ field, type: 'text', nullable: true });
const json = (field: string): SystemField => ({ field, type: 'json', special: ['cast-json'], nullable: true });
const file = (field: string): SystemField => ({
  field,
  type: 'uuid',
  nullable: true,
  references: { collection: 'platform_files', onDelete: 'SET NULL' },
});

/** The settings, in one row (specification, "Settings record"). A setting without a value reads as its default. */
export const settingsCollection: SystemCollection = {
  collection: SETTINGS_COLLECTION,
  note: 'How this project looks and behaves',
  singleton: true,
  verbs: ['read', 'update'],
  fields: [
    { field: 'id', type: 'integer', primary: true, default: '1' },
    string('project_name', 100, 'Tenon'),
    string('project_descriptor', 100),
    string('project_url'),
    string('project_color', 50),
    file('project_logo'),
    file('public_foreground'),
    file('public_background'),
    file('public_favicon'),
    text('public_note'),
    string('default_language', 255, 'en-US'),
    string('default_appearance', 255, 'auto'),
    string('default_theme_light'),
    string('default_theme_dark'),
    json('theme_light_overrides'),
    json('theme_dark_overrides'),
    string('auth_password_policy', 100),
    { field: 'auth_login_attempts', type: 'integer', nullable: true, default: '25' },
    { field: 'public_registration', type: 'boolean', default: 'false' },
    { field: 'public_registration_verify_email', type: 'boolean', default: 'true' },
    {
      field: 'public_registration_role',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_roles', onDelete: 'SET NULL' },
    },
    json('public_registration_email_filter'),
    // Values other than `all` and `presets` are valid too, and mean none.
    string('storage_asset_transform', 255, 'all'),
    json('storage_asset_presets'),
    {
      field: 'storage_default_folder',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_folders', onDelete: 'SET NULL' },
    },
    string('map_key'),
    json('basemaps'),
    json('module_bar'),
    text('custom_css'),
    json('custom_aspect_ratios'),
  ],
};
