import type { SystemCollection } from '../schema/contract.ts';

export const EXTENSION_SETTINGS_TABLE = 'platform_extension_settings';

const name = (field: string, maxLength: number) => ({ field, type: 'string', maxLength }) as const;

/**
 * The collection of the values of extension settings (conventions, "Storage"). Only the routes of this plugin read and write it.
 */
export const extensionSettingsCollection: SystemCollection = {
  collection: EXTENSION_SETTINGS_TABLE,
  note: 'What extensions are set to',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    name('extension', 255),
    name('scope', 16),
    // A collection's name may consist of a schema and a table, each of at most 63 characters.
    { ...name('scope_key', 255), default: "''" },
    name('key', 64),
    { field: 'value', type: 'text' },
  ],
  unique: [['extension', 'scope', 'scope_key', 'key']],
};
