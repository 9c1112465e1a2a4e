import type { SystemCollection, SystemField } from '../schema/contract.ts';

const jsonField = (field: string): SystemField => ({ field, type: 'json', special: ['cast-json'], nullable: true });
const stringField = (field: string, maxLength: number, fallback?: string): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable: true,
  ...(fallback === undefined ? {} : { default: fallback }),
});

export const PRESETS_COLLECTION = 'platform_presets';

/** A preset belongs to a user where `user` is set, else to a role where `role` is set, else to all users. */
export const presetsCollection: SystemCollection = {
  collection: PRESETS_COLLECTION,
  note: 'How lists of items are shown, and bookmarks',
  accountability: null,
  fields: [
    { field: 'id', type: 'integer', primary: true, autoIncrement: true },
    // The name of a bookmark; null for the default view of a collection.
    stringField('bookmark', 255),
    { field: 'user', type: 'uuid', nullable: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'role', type: 'uuid', nullable: true, references: { collection: 'platform_roles', onDelete: 'CASCADE' } },
    stringField('collection', 64),
    stringField('search', 100),
    stringField('layout', 100, "'tabular'"),
    jsonField('layout_query'),
    jsonField('layout_options'),
    // Seconds.
    { field: 'refresh_interval', type: 'integer', nullable: true },
    jsonField('filter'),
    stringField('icon', 64, "'bookmark'"),
    stringField('color', 255),
  ],
};
