import type { Caller, Log } from '#kernel';
import type { FileStorageService } from '../files/contract.ts';
import type { StorageService } from '../storage/contract.ts';
import { createUnknownUploadFailure } from './failures.ts';
import type { UploadLocker } from './locker.ts';
import type { UploadDescription } from './metadata.ts';
import { assertUploadPiecesComplete, joinUploadPieces, removeUploadPieces } from './pieces.ts';
import { hasReceivedAllBytes, type UploadRepository } from './upload-repository.ts';

export interface FinishUploadDeps {
  readonly uploads: UploadRepository;
  readonly files: FileStorageService;
  readonly storage: Pick<StorageService, 'at' | 'locations'>;
  readonly locker: UploadLocker;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Creates the file of a complete upload, with the permissions of the caller: of the request with the last byte, or of a later one
 * after a crash. Does nothing if the file exists already.
 */
export async function finishUpload(
  { uploads, files, storage, locker, log }: FinishUploadDeps,
  caller: Caller,
  id: string,
  aboutOf: (metadata: string) => Promise<UploadDescription>,
): Promise<void> {
  await locker.runExclusive(id, async () => {
    const upload = await uploads.find(id);
    if (!upload) throw createUnknownUploadFailure(`the upload ${id} is gone`);
    if (!hasReceivedAllBytes(upload) || upload.completed) return;
    const location = storage.at(upload.storage);
    const { incoming, replaces } = await aboutOf(upload.metadata);
    // A crash may have happened after the file was created and before the upload was marked as completed below.
    if (replaces !== null || !(await uploads.hasFile(upload, caller.user))) {
      const bytes = joinUploadPieces(location, assertUploadPiecesComplete(await uploads.pieces(id), upload.received));
      if (replaces === null) await files.create(caller, { ...incoming, bytes }, { id });
      else await files.replace(caller, replaces, { ...incoming, bytes });
    }
    await uploads.complete(id);
    await removeUploadPieces({ uploads, location }, id).catch((error) => {
      log.warn({ err: error, upload: id }, 'pieces of an upload are left for the next clean-up');
    });
  });
}
