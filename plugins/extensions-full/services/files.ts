import { FILES_COLLECTION_NAME, type FileStorageService } from '../../files/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import type { ExtensionServiceOptions, ServiceMethodOptions } from './base-service.ts';
import type { ItemsServiceClass } from './items.ts';

type Bytes = Parameters<FileStorageService['create']>[1]['bytes'];

/** `FilesService`: the verbs of items for rows of files, and uploads. */
export function createFilesServiceClass(runtime: ExtensionRuntime, ItemsService: ItemsServiceClass) {
  const { files } = runtime.deps;

  return class FilesService extends ItemsService {
    constructor(options?: ExtensionServiceOptions) {
      super(FILES_COLLECTION_NAME, options);
    }

    /**
     * Creates a file with these bytes, or replaces those of the file `key`; answers its key. `data` has metadata:
     * `title`, `folder`, `filename_download`, `type`. Call it outside of a transaction, since an upload may take long.
     */
    uploadOne(
      bytes: Bytes | readonly Uint8Array[],
      data: Payload = {},
      key?: string,
      options?: ServiceMethodOptions,
    ): Promise<string> {
      const { filename_download: filename, type, ...metadata } = data;
      const incoming = {
        bytes: Symbol.asyncIterator in bytes ? bytes : toStream(bytes),
        filename: typeof filename === 'string' ? filename : undefined,
        type: typeof type === 'string' ? type : undefined,
        metadata,
      };
      return this.act(
        (caller) => (key === undefined ? files.create(caller, incoming) : files.replace(caller, key, incoming)),
        options,
      );
    }

    /** Fetches a file from a URL, within the limits of `POST /files/import`; answers its key. `data` has metadata. */
    importOne(url: string, data: Payload = {}, options?: ServiceMethodOptions): Promise<string> {
      return this.act((caller) => files.importFrom(caller, url, data), options);
    }
  };
}

async function* toStream(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
