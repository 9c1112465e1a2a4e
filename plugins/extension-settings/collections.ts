import type { SystemCollection } from '../schema/contract.ts';

export const SETTINGS_TABLE = 'platform_extension_settings';

const name = (field: string, maxLength: number) => ({ field, type: 'string', maxLength }) as const;

/** Conventions, "Storage". In no API but its own routes. */
export const settingsCollection: SystemCollection = {
  collection: SETTINGS_TABLE,
  note: 'What extensions are set to',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    name('extension', 255),
    name('scope', 16),
    // Tables of the same name in two schemas are called by both names, each of which may have 63 characters.
    { ...name('scope_key', 255), default: "''" },
    name('key', 64),
    { field: 'value', type: 'text' },
  ],
  unique: [['extension', 'scope', 'scope_key', 'key']],
};
