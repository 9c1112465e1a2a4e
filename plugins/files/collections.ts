import type { SystemCollection, SystemField } from '../schema/contract.ts';
import { FILES_COLLECTION_NAME } from './contract.ts';

const string = (field: string, maxLength = 255): SystemField => ({ field, type: 'string', maxLength, nullable: true });
const text = (field: string): SystemField => ({ field, type: 'text', nullable: true });
const json = (field: string): SystemField => ({ field, type: 'json', special: ['cast-json'], nullable: true });
const integer = (field: string): SystemField => ({ field, type: 'integer', nullable: true });
const timestamp = (field: string, ...special: string[]): SystemField => ({
  field,
  type: 'timestamp',
  nullable: true,
  ...(special.length > 0 ? { special } : {}),
});
const userReference = (field: string, special: string): SystemField => ({
  field,
  type: 'uuid',
  special: [special],
  nullable: true,
  references: { collection: 'platform_users', onDelete: 'SET NULL' },
});

/** The row of a file (specification, "File record"; conventions, "Files"). */
export const filesCollection: SystemCollection = {
  collection: FILES_COLLECTION_NAME,
  note: 'What is known of files beside their bytes',
  // No `create`: bytes can be sent by REST only.
  verbs: ['read', 'update', 'delete'],
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    // The two defaults are for rows without bytes whose caller may not write these fields.
    { field: 'storage', type: 'string', maxLength: 255, default: "'local'" },
    string('filename_disk'),
    { field: 'filename_download', type: 'string', maxLength: 255, default: "'file'" },
    string('title'),
    string('type'),
    // The type by content, whatever type was declared.
    string('detected_type'),
    {
      field: 'folder',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_folders', onDelete: 'SET NULL' },
    },
    userReference('uploaded_by', 'user-created'),
    timestamp('created_on', 'date-created'),
    timestamp('uploaded_on'),
    userReference('modified_by', 'user-updated'),
    timestamp('modified_on', 'date-created', 'date-updated'),
    string('charset', 50),
    { field: 'filesize', type: 'bigInteger', nullable: true },
    integer('width'),
    integer('height'),
    // Milliseconds.
    integer('duration'),
    string('embed', 200),
    text('description'),
    text('location'),
    json('tags'),
    json('metadata'),
    integer('focal_point_x'),
    integer('focal_point_y'),
  ],
  indexes: [['storage', 'filename_disk']],
};

/**
 * The ledger of objects without a row: their bytes are still arriving, or their row is gone. An upload makes an entry before it
 * writes; triggers make one when a row drops its object. The janitor removes entries without a live writer, with their objects.
 */
export const orphanedObjectsCollection: SystemCollection = {
  collection: 'platform_orphaned_objects',
  formerName: 'platform_loose_objects',
  note: 'Objects in storage that belong to no file',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'storage', type: 'string', maxLength: 255 },
    { field: 'name', type: 'string', maxLength: 255 },
    // The process that is writing the object; null if any process may remove it.
    { field: 'writer', type: 'uuid', nullable: true },
    { field: 'since', type: 'timestamp', default: 'now()' },
  ],
  indexes: [['writer', 'since']],
};

/** The storage locations of each process, with the identity that their drivers report. */
export const storageLocationsCollection: SystemCollection = {
  collection: 'platform_storage_locations',
  formerName: 'platform_storage_places',
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
