import type { DataStore, Upload as TusUpload } from '@tus/server';
import { type Caller, fail, type Log } from '#kernel';
import type { FileStorageService } from '../files/contract.ts';
import type { StorageService } from '../storage/contract.ts';
import { removeUpload } from './clean-up.ts';
import { createUnknownUploadFailure } from './failures.ts';
import type { UploadDescription } from './metadata.ts';
import { receiveUploadPieces } from './pieces.ts';
import type { ResumableUpload, UploadRepository } from './upload-repository.ts';

export interface TusDataStoreDeps {
  readonly uploads: UploadRepository;
  readonly files: FileStorageService;
  readonly storage: Pick<StorageService, 'at' | 'locations'>;
  readonly log: Pick<Log, 'warn'>;
  /** Bytes of the largest piece. */
  readonly pieceSize: number;
  /** Milliseconds that an upload is kept after its last change. */
  readonly lifetime: number;
}

/** What the data store needs to know of one request. */
export interface TusDataStoreRequest {
  readonly caller: Caller;
  /** Upload-Metadata as it was sent. */
  readonly metadata: string;
  readonly describeUpload: (metadata: string) => Promise<UploadDescription>;
}

const EXTENSIONS = ['creation', 'creation-with-upload', 'creation-defer-length', 'termination', 'expiration'];

type Library = typeof import('@tus/server');

/** Creates the data store of the tus library, for one request. */
export function createTusDataStore(
  { DataStore, Upload, Metadata }: Library,
  deps: TusDataStoreDeps,
  request: TusDataStoreRequest,
): DataStore {
  const { uploads, files, storage, log, pieceSize, lifetime } = deps;
  const findExisting = async (id: string): Promise<ResumableUpload> => {
    const upload = await uploads.find(id);
    if (!upload) throw createUnknownUploadFailure(`the upload ${id} is gone`);
    return upload;
  };

  return Object.assign(new DataStore(), {
    extensions: EXTENSIONS,
    getExpiration: () => lifetime,

    async create(upload: TusUpload) {
      const { incoming, replaces } = await request.describeUpload(request.metadata);
      const { storage: chosen } = incoming.metadata;
      const location = storage.at(typeof chosen === 'string' ? chosen : (storage.locations[0] as string));
      await uploads.add({
        id: upload.id,
        user: request.caller.user,
        storage: location.name,
        metadata: request.metadata,
        size: upload.size ?? null,
        replaces,
      });
      return upload;
    },

    async getUpload(id: string) {
      const { metadata, size, received, expires } = await findExisting(id);
      return new Upload({
        id,
        offset: received,
        ...(size === null ? {} : { size }),
        ...(metadata === '' ? {} : { metadata: Metadata.parse(metadata) }),
        // The library computes the expiration from `creation_date`; new bytes extend the lifetime.
        creation_date: new Date(expires.getTime() - lifetime).toISOString(),
      });
    },

    async write(bytes: AsyncIterable<Uint8Array>, id: string, offset: number) {
      const location = storage.at((await findExisting(id)).storage);
      return receiveUploadPieces({ uploads, location, log }, id, offset, bytes, pieceSize);
    },

    async declareUploadLength(id: string, size: number) {
      const { metadata } = await findExisting(id);
      const { incoming, replaces } = await request.describeUpload(metadata);
      await files.check(request.caller, { ...incoming, size }, replaces ?? undefined);
      if (!(await uploads.declareSize(id, size))) throw fail('INVALID_PAYLOAD', 'Upload-Length was known before.');
    },

    async remove(id: string) {
      if ((await findExisting(id)).completed)
        throw fail('INVALID_PAYLOAD', 'The upload is complete, and a file by now.');
      await removeUpload({ uploads, storage }, id);
    },
  });
}
