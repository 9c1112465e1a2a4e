import type { SystemCollection } from '../schema/contract.ts';

export const uploads: SystemCollection = {
  collection: 'platform_uploads',
  note: 'Files of which some bytes are here',
  internal: true,
  fields: [
    // Also of the file that is made of it, where it replaces none.
    { field: 'id', type: 'uuid', primary: true },
    // No foreign key: the upload of somebody who was deleted must not become anybody's.
    { field: 'user', type: 'uuid', nullable: true },
    { field: 'storage', type: 'string', maxLength: 255 },
    // The header as it was sent: it is sent back so.
    { field: 'metadata', type: 'text' },
    // Null as long as the client does not know it.
    { field: 'size', type: 'bigInteger', nullable: true },
    { field: 'received', type: 'bigInteger', default: '0' },
    { field: 'replaces', type: 'uuid', nullable: true },
    { field: 'completed', type: 'boolean', default: 'false' },
    { field: 'expires', type: 'timestamp' },
  ],
  indexes: [['expires']],
};

export const pieces: SystemCollection = {
  collection: 'platform_upload_pieces',
  note: 'Objects in storage that uploads are made of',
  internal: true,
  fields: [
    { field: 'name', type: 'string', maxLength: 255, primary: true },
    { field: 'upload', type: 'uuid', references: { collection: 'platform_uploads', onDelete: 'CASCADE' } },
    // The place of its first byte.
    { field: 'start', type: 'bigInteger' },
    // Null until all of it is kept: what a crash left has none.
    { field: 'size', type: 'bigInteger', nullable: true },
  ],
};
