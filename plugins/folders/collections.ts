import type { SystemCollection } from '../schema/contract.ts';

export const foldersCollection: SystemCollection = {
  collection: 'platform_folders',
  note: 'Where files are kept in order',
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'name', type: 'string', maxLength: 255 },
    {
      field: 'parent',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_folders', onDelete: 'SET NULL' },
    },
  ],
};
