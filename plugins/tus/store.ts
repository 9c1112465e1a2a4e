import type { DataStore, Upload as TusUpload } from '@tus/server';
import { type Caller, fail, type Log } from '#kernel';
import type { Files } from '../files/contract.ts';
import type { Storage } from '../storage/contract.ts';
import { removeUpload } from './clean-up.ts';
import { unknownUpload } from './failures.ts';
import type { About } from './metadata.ts';
import { receive } from './pieces.ts';
import type { Upload, Uploads } from './uploads.ts';

export interface StoreDeps {
  readonly uploads: Uploads;
  readonly files: Files;
  readonly storage: Storage;
  readonly log: Pick<Log, 'warn'>;
  /** Bytes of a piece. */
  readonly chunk: number;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** What one request brings along. */
export interface Asked {
  readonly caller: Caller;
  /** Upload-Metadata as it was sent. */
  readonly metadata: string;
  readonly aboutOf: (metadata: string) => Promise<About>;
}

const EXTENSIONS = ['creation', 'creation-with-upload', 'creation-defer-length', 'termination', 'expiration'];

type Library = typeof import('@tus/server');

/** What the library keeps uploads in, for one request. */
export function storeFor({ DataStore, Upload, Metadata }: Library, deps: StoreDeps, asked: Asked): DataStore {
  const { uploads, files, storage, log, chunk, lifetime } = deps;
  const existing = async (id: string): Promise<Upload> => {
    const upload = await uploads.find(id);
    if (!upload) throw unknownUpload(`the upload ${id} is gone`);
    return upload;
  };

  return Object.assign(new DataStore(), {
    extensions: EXTENSIONS,
    getExpiration: () => lifetime,

    async create(upload: TusUpload) {
      const { incoming, replaces } = await asked.aboutOf(asked.metadata);
      const { storage: chosen } = incoming.metadata;
      const location = storage.at(typeof chosen === 'string' ? chosen : (storage.locations[0] as string));
      await uploads.add({
        id: upload.id,
        user: asked.caller.user,
        storage: location.name,
        metadata: asked.metadata,
        size: upload.size ?? null,
        replaces,
      });
      return upload;
    },

    async getUpload(id: string) {
      const { metadata, size, received, expires } = await existing(id);
      return new Upload({
        id,
        offset: received,
        ...(size === null ? {} : { size }),
        ...(metadata === '' ? {} : { metadata: Metadata.parse(metadata) }),
        // The library counts from here; what arrives makes an upload young again.
        creation_date: new Date(expires.getTime() - lifetime).toISOString(),
      });
    },

    async write(bytes: AsyncIterable<Uint8Array>, id: string, offset: number) {
      const location = storage.at((await existing(id)).storage);
      return receive({ uploads, location, log }, id, offset, bytes, chunk);
    },

    async declareUploadLength(id: string, size: number) {
      const { metadata } = await existing(id);
      const { incoming, replaces } = await asked.aboutOf(metadata);
      await files.check(asked.caller, { ...incoming, size }, replaces ?? undefined);
      if (!(await uploads.declareSize(id, size))) throw fail('INVALID_PAYLOAD', 'Upload-Length was known before.');
    },

    async remove(id: string) {
      if ((await existing(id)).completed) throw fail('INVALID_PAYLOAD', 'The upload is complete, and a file by now.');
      await removeUpload({ uploads, storage }, id);
    },
  });
}
