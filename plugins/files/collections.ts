import type { SystemCollection, SystemField } from '../schema/contract.ts';
import { FILES } from './contract.ts';

const string = (field: string, maxLength = 255): SystemField => ({ field, type: 'string', maxLength, nullable: true });
const text = (field: string): SystemField => ({ field, type: 'text', nullable: true });
const json = (field: string): SystemField => ({ field, type: 'json', special: ['cast-json'], nullable: true });
const whole = (field: string): SystemField => ({ field, type: 'integer', nullable: true });
const moment = (field: string, ...special: string[]): SystemField => ({
  field,
  type: 'timestamp',
  nullable: true,
  ...(special.length > 0 ? { special } : {}),
});
const person = (field: string, special: string): SystemField => ({
  field,
  type: 'uuid',
  special: [special],
  nullable: true,
  references: { collection: 'platform_users', onDelete: 'SET NULL' },
});

/** What is known of a file beside its bytes (specification, "File record"; conventions, "Files"). */
export const filesCollection: SystemCollection = {
  collection: FILES,
  note: 'What is known of files beside their bytes',
  // Bytes come by REST only; a row alone can be made there too.
  verbs: ['read', 'update', 'delete'],
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    // The two defaults are for rows without bytes of those who may not say it themselves.
    { field: 'storage', type: 'string', maxLength: 255, default: "'local'" },
    string('filename_disk'),
    { field: 'filename_download', type: 'string', maxLength: 255, default: "'file'" },
    string('title'),
    string('type'),
    // By content, whatever the sender said.
    string('detected_type'),
    {
      field: 'folder',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_folders', onDelete: 'SET NULL' },
    },
    person('uploaded_by', 'user-created'),
    moment('created_on', 'date-created'),
    moment('uploaded_on'),
    person('modified_by', 'user-updated'),
    moment('modified_on', 'date-created', 'date-updated'),
    string('charset', 50),
    { field: 'filesize', type: 'bigInteger', nullable: true },
    whole('width'),
    whole('height'),
    // Milliseconds.
    whole('duration'),
    string('embed', 200),
    text('description'),
    text('location'),
    json('tags'),
    json('metadata'),
    whole('focal_point_x'),
    whole('focal_point_y'),
  ],
  indexes: [['storage', 'filename_disk']],
};

/**
 * Objects in storage that are no row's: not yet, since their bytes are still coming, or not any more. Whoever writes bytes says
 * so here first; triggers say it of rows that let go of theirs. What stands here and has no writer that lives is removed.
 */
export const looseObjects: SystemCollection = {
  collection: 'platform_loose_objects',
  note: 'Objects in storage that belong to no file',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'storage', type: 'string', maxLength: 255 },
    { field: 'name', type: 'string', maxLength: 255 },
    // The process that is writing it; null for what anybody may remove.
    { field: 'writer', type: 'uuid', nullable: true },
    { field: 'since', type: 'timestamp', default: 'now()' },
  ],
  indexes: [['writer', 'since']],
};

/** The places of each process, as they identify themselves. */
export const storagePlaces: SystemCollection = {
  collection: 'platform_storage_places',
  note: 'Where each process keeps the bytes of its locations',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'process', type: 'uuid' },
    { field: 'location', type: 'string', maxLength: 64 },
    { field: 'place', type: 'string', maxLength: 255 },
    { field: 'name', type: 'text' },
  ],
  unique: [['process', 'location']],
};
