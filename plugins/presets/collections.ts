import type { SystemCollection, SystemField } from '../schema/contract.ts';

const json = (field: string): SystemField => ({ field, type: 'json', special: ['cast-json'], nullable: true });
const string = (field: string, maxLength: number, fallback?: string): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable: true,
  ...(fallback === undefined ? {} : { default: fallback }),
});

export const PRESETS = 'platform_presets';

/** Whose a preset is: a user's where `user` is set, else a role's where `role` is, else everybody's. */
export const presets: SystemCollection = {
  collection: PRESETS,
  note: 'How lists of items are shown, and bookmarks',
  accountability: null,
  fields: [
    { field: 'id', type: 'integer', primary: true, autoIncrement: true },
    // Null for the default view of a collection.
    string('bookmark', 255),
    { field: 'user', type: 'uuid', nullable: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'role', type: 'uuid', nullable: true, references: { collection: 'platform_roles', onDelete: 'CASCADE' } },
    string('collection', 64),
    string('search', 100),
    string('layout', 100, "'tabular'"),
    json('layout_query'),
    json('layout_options'),
    // Seconds.
    { field: 'refresh_interval', type: 'integer', nullable: true },
    json('filter'),
    string('icon', 64, "'bookmark'"),
    string('color', 255),
  ],
};
