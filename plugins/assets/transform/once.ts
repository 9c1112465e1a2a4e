import { type Failure, fail, type Log } from '#kernel';
import type { Lock } from '../../cluster/contract.ts';
import { MediaError } from '../../media/library.ts';
import type { Location } from '../../storage/contract.ts';
import { createSemaphore } from '../../workers/library.ts';
import type { FileRecord, Variant } from '../variant.ts';
import type { Elsewhere } from './elsewhere.ts';
import { createNoImages, createRecentFailures, failureOf } from './failures.ts';
import { checkSource } from './limits.ts';
import type { Maker } from './make.ts';

/** Milliseconds between two looks at what another process makes, where it does not say that it is ready. */
const LOOK = 200;
/** Milliseconds: another process makes its images one after another too. */
const LONGEST_WAIT = 60_000;

interface Deps {
  readonly lock: Lock;
  readonly elsewhere: Elsewhere;
  readonly make: Maker['make'];
  readonly log: Log;
  /** Images being made, or waiting for their turn, in this process. */
  readonly most: number;
}

/** `there`: in storage; as bytes for who made it, where they are few. `noImage`: the source is nothing that can be transformed. */
type Outcome = 'there' | 'noImage' | Buffer;

/**
 * Sees to it that a variant lies in storage. However many ask for it at the same moment, in however many processes, it is
 * made once: those of one process share a promise, and processes a lock.
 */
export function createOnce({ lock, elsewhere, make, log, most }: Deps) {
  const underway = new Map<string, Promise<Outcome>>();
  const failed = createRecentFailures();
  const noImages = createNoImages();
  const makers = createSemaphore({
    limit: most,
    queue: 0,
    refuse() {
      const reason = `${most} images are being made already`;
      return fail('SERVICE_UNAVAILABLE', reason, { service: 'assets', reason });
    },
  });

  async function attempt(location: Location, file: FileRecord, variant: Variant, object: string): Promise<Outcome> {
    // Made between our look and our lock.
    if (await location.stat(variant.name)) return 'there';
    const made = await makers.run(() => make(location, file, variant));
    // Nobody here waits for that: the others look by themselves as well.
    void elsewhere.announce(object).catch((error) => log.warn({ err: error }, 'others were not told of an image'));
    return made ?? 'there';
  }

  async function sharedWithOthers(location: Location, file: FileRecord, variant: Variant, object: string) {
    const latest = Date.now() + LONGEST_WAIT;
    while (Date.now() < latest) {
      const mine = await lock.attempt(`asset ${object}`, () => attempt(location, file, variant, object));
      if (mine) return mine.value;
      await elsewhere.heard(object, LOOK);
      if (await location.stat(variant.name)) return 'there';
    }
    const reason = 'an image is being made elsewhere and does not get ready';
    throw fail('SERVICE_UNAVAILABLE', reason, { service: 'assets', reason });
  }

  async function bring(location: Location, file: FileRecord, variant: Variant, object: string): Promise<Outcome> {
    checkSource(file, variant.plan);
    try {
      return await sharedWithOthers(location, file, variant, object);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      if (error.reason === 'unsupported') {
        noImages.set(sourceOf(file), true);
        return 'noImage';
      }
      log.info({ object, reason: error.reason, detail: error.message }, 'an image could not be made');
      const failure: Failure = failureOf(error, variant.plan);
      failed.set(object, failure);
      throw failure;
    }
  }

  return async (location: Location, file: FileRecord, variant: Variant): Promise<Outcome> => {
    const object = `${file.storage} ${variant.name}`;
    const before = failed.get(object);
    if (before) throw before;
    if (noImages.has(sourceOf(file))) return 'noImage';
    const shared = underway.get(object);
    if (shared) return (await shared) === 'noImage' ? 'noImage' : 'there';
    const mine = bring(location, file, variant, object).finally(() => underway.delete(object));
    underway.set(object, mine);
    return mine;
  };
}

const sourceOf = ({ storage, filename_disk }: FileRecord): string => `${storage} ${filename_disk}`;
