import type { SystemCollection } from '../schema/contract.ts';

export const uploadsCollection: SystemCollection = {
  collection: 'platform_uploads',
  note: 'Files of which some bytes are here',
  internal: true,
  fields: [
    // The id of the upload, and of the file that is created unless an existing file is replaced.
    { field: 'id', type: 'uuid', primary: true },
    // No foreign key: with SET NULL, the upload of a deleted user would be accessible to every caller.
    { field: 'user', type: 'uuid', nullable: true },
    { field: 'storage', type: 'string', maxLength: 255 },
    // Upload-Metadata as it was sent: HEAD sends it back unchanged.
    { field: 'metadata', type: 'text' },
    // Null as long as the client does not know the size.
    { field: 'size', type: 'bigInteger', nullable: true },
    { field: 'received', type: 'bigInteger', default: '0' },
    { field: 'replaces', type: 'uuid', nullable: true },
    { field: 'completed', type: 'boolean', default: 'false' },
    { field: 'expires', type: 'timestamp' },
  ],
  indexes: [['expires']],
};

export const uploadPiecesCollection: SystemCollection = {
  collection: 'platform_upload_pieces',
  note: 'Objects in storage that uploads are made of',
  internal: true,
  fields: [
    { field: 'name', type: 'string', maxLength: 255, primary: true },
    { field: 'upload', type: 'uuid', references: { collection: 'platform_uploads', onDelete: 'CASCADE' } },
    // Offset of the piece's first byte in the upload.
    { field: 'start', type: 'bigInteger' },
    // Null until the piece is stored: a crash leaves pieces without a size.
    { field: 'size', type: 'bigInteger', nullable: true },
  ],
};
