import type { Caller, Log } from '#kernel';
import type { Files } from '../files/contract.ts';
import type { Storage } from '../storage/contract.ts';
import { unknownUpload } from './failures.ts';
import type { UploadLocker } from './locker.ts';
import type { About } from './metadata.ts';
import { joined, removePieces, wholePieces } from './pieces.ts';
import { isWhole, type Uploads } from './uploads.ts';

export interface FinishDeps {
  readonly uploads: Uploads;
  readonly files: Files;
  readonly storage: Storage;
  readonly locker: UploadLocker;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Makes the file of an upload whose last byte has come, with the permissions of whoever asks: of the request that brought it, or
 * of one that comes after a crash. Doing it again does nothing.
 */
export async function finish(
  { uploads, files, storage, locker, log }: FinishDeps,
  caller: Caller,
  id: string,
  aboutOf: (metadata: string) => Promise<About>,
): Promise<void> {
  await locker.runExclusive(id, async () => {
    const upload = await uploads.find(id);
    if (!upload) throw unknownUpload(`the upload ${id} is gone`);
    if (!isWhole(upload) || upload.completed) return;
    const location = storage.at(upload.storage);
    const { incoming, replaces } = await aboutOf(upload.metadata);
    // A crash may have come between the file and what is noted below.
    if (replaces !== null || !(await uploads.isMade(upload, caller.user))) {
      const bytes = joined(location, wholePieces(await uploads.pieces(id), upload.received));
      if (replaces === null) await files.create(caller, { ...incoming, bytes }, { id });
      else await files.replace(caller, replaces, { ...incoming, bytes });
    }
    await uploads.complete(id);
    await removePieces({ uploads, location }, id).catch((error) => {
      log.warn({ err: error, upload: id }, 'pieces of an upload are left for the next clean-up');
    });
  });
}
