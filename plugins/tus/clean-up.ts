import { fail, type Log } from '#kernel';
import type { InterProcessLock } from '../cluster/contract.ts';
import type { JobScheduler, ScheduledJobHandle } from '../schedule/contract.ts';
import type { StorageService } from '../storage/contract.ts';
import { uploadLockName } from './locker.ts';
import { removeUploadPieces } from './pieces.ts';
import type { UploadRepository } from './upload-repository.ts';

interface Deps {
  readonly uploads: UploadRepository;
  readonly storage: Pick<StorageService, 'at' | 'locations'>;
  readonly lock: Pick<InterProcessLock, 'attempt'>;
  readonly log: Pick<Log, 'warn' | 'error'>;
}

/** Removes an upload and all its pieces. A file created from it stays. */
export async function removeUpload({ uploads, storage }: Pick<Deps, 'uploads' | 'storage'>, id: string): Promise<void> {
  const upload = await uploads.find(id);
  if (!upload) return;
  await removeUploadPieces({ uploads, location: storage.at(upload.storage) }, id);
  await uploads.remove(id);
}

/**
 * Removes uploads that had expired at `now`, except those whose lock is held, until `signal` aborts. Answers their number.
 */
export async function removeExpiredUploads(
  { uploads, storage, lock, log }: Deps,
  now: number = Date.now(),
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const id of await uploads.expired(now)) {
    if (signal?.aborted) break;
    const work = async () => {
      const upload = await uploads.find(id);
      // The upload may have received bytes while other uploads were removed.
      if (!upload || upload.expires.getTime() >= now) return;
      await removeUpload({ uploads, storage }, id);
      removed += 1;
    };
    await lock.attempt(uploadLockName(id), work).catch((error) => {
      log.warn({ err: error, upload: id }, 'an expired upload could not be removed');
    });
  }
  return removed;
}

interface ScheduleDeps extends Deps {
  readonly schedule: JobScheduler;
}

/**
 * Schedules the clean-up, in one of all processes at a time.
 * @throws INVALID_CONFIG for an invalid cron pattern.
 */
export function scheduleUploadCleanUp({ schedule, ...deps }: ScheduleDeps, pattern: string): ScheduledJobHandle {
  if (!schedule.isPattern(pattern))
    throw fail('INVALID_CONFIG', `TUS_CLEANUP_SCHEDULE is not a cron pattern: ${pattern}`);
  return schedule.start({
    name: 'tus clean-up',
    at: pattern,
    log: deps.log,
    run: ({ signal }) => removeExpiredUploads(deps, Date.now(), signal),
  });
}
