import { type Failure, fail, type Log } from '#kernel';
import type { InterProcessLock } from '../../cluster/contract.ts';
import { MediaError } from '../../media/library.ts';
import type { StorageLocation } from '../../storage/contract.ts';
import { createSemaphore } from '../../workers/library.ts';
import type { FileRecord, ImageVariant } from '../variant.ts';
import { assertImageSourceSize } from './limits.ts';
import { createNonImageCache, createTransformFailureCache, toTransformFailure } from './transform-failure-cache.ts';
import type { ImageVariantMaker } from './variant-maker.ts';
import type { VariantReadyNotifications } from './variant-ready-notifications.ts';

/** Milliseconds between two checks for an image that another process makes, if no notification arrives. */
const POLL_INTERVAL = 200;
/** Milliseconds to wait for another process, which may have other images to make first. */
const MAX_WAIT = 60_000;

interface Deps {
  readonly lock: Pick<InterProcessLock, 'run' | 'attempt'>;
  readonly remoteCompletion: VariantReadyNotifications;
  readonly make: ImageVariantMaker['make'];
  readonly log: Log;
  /** Maximum number of images that this process makes at a time. */
  readonly maxConcurrent: number;
}

/** `stored`: in storage. A buffer: the same, with the bytes of a small image that this call made. `noImage`: the source is no image. */
type VariantOutcome = 'stored' | 'noImage' | Buffer;

/**
 * Answers a function that ensures that a variant is stored. Concurrent requests make it once: requests of one process share a
 * promise, processes share a lock.
 */
export function createImageVariantSingleFlight({ lock, remoteCompletion, make, log, maxConcurrent }: Deps) {
  const inFlight = new Map<string, Promise<VariantOutcome>>();
  const failures = createTransformFailureCache();
  const nonImages = createNonImageCache();
  const semaphore = createSemaphore({
    limit: maxConcurrent,
    queue: 0,
    refuse() {
      const reason = `${maxConcurrent} images are being made already`;
      return fail('SERVICE_UNAVAILABLE', reason, { service: 'assets', reason });
    },
  });

  async function attempt(
    location: StorageLocation,
    file: FileRecord,
    variant: ImageVariant,
    object: string,
  ): Promise<VariantOutcome> {
    // Another process may have stored the variant before this process got the lock.
    if (await location.stat(variant.name)) return 'stored';
    const bytes = await semaphore.run(() => make(location, file, variant));
    // Not awaited: other processes also poll.
    void remoteCompletion
      .announce(object)
      .catch((error) => log.warn({ err: error }, 'other processes could not be notified of an image'));
    return bytes ?? 'stored';
  }

  async function makeUnderLock(location: StorageLocation, file: FileRecord, variant: ImageVariant, object: string) {
    const latest = Date.now() + MAX_WAIT;
    while (Date.now() < latest) {
      const mine = await lock.attempt(`asset ${object}`, () => attempt(location, file, variant, object));
      if (mine) return mine.value;
      await remoteCompletion.waitFor(object, POLL_INTERVAL);
      if (await location.stat(variant.name)) return 'stored';
    }
    const reason = 'another process has been making this image for too long';
    throw fail('SERVICE_UNAVAILABLE', reason, { service: 'assets', reason });
  }

  async function makeVariant(
    location: StorageLocation,
    file: FileRecord,
    variant: ImageVariant,
    object: string,
  ): Promise<VariantOutcome> {
    assertImageSourceSize(file, variant.plan);
    try {
      return await makeUnderLock(location, file, variant, object);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      if (error.reason === 'unsupported') {
        nonImages.set(sourceKey(file), true);
        return 'noImage';
      }
      log.info({ object, reason: error.reason, detail: error.message }, 'an image could not be made');
      const failure: Failure = toTransformFailure(error, variant.plan);
      failures.set(object, failure);
      throw failure;
    }
  }

  return async (location: StorageLocation, file: FileRecord, variant: ImageVariant): Promise<VariantOutcome> => {
    const object = `${file.storage} ${variant.name}`;
    const before = failures.get(object);
    if (before) throw before;
    if (nonImages.has(sourceKey(file))) return 'noImage';
    const shared = inFlight.get(object);
    if (shared) return (await shared) === 'noImage' ? 'noImage' : 'stored';
    const mine = makeVariant(location, file, variant, object).finally(() => inFlight.delete(object));
    inFlight.set(object, mine);
    return mine;
  };
}

const sourceKey = ({ storage, filename_disk }: FileRecord): string => `${storage} ${filename_disk}`;
