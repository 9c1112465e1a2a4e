import type { SystemCollection } from '../schema/contract.ts';

export const translationsCollection: SystemCollection = {
  collection: 'platform_translations',
  note: 'Texts of the admin app in several languages',
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'key', type: 'string', maxLength: 255 },
    { field: 'language', type: 'string', maxLength: 255 },
    { field: 'value', type: 'text' },
  ],
  unique: [['key', 'language']],
};
