import { type Failure, fail, type Log } from '#kernel';
import type { Lock } from '../../cluster/contract.ts';
import { MediaError } from '../../media/contract.ts';
import type { Location, Opened } from '../../storage/contract.ts';
import type { FileRecord, Variant } from '../variant.ts';
import type { Elsewhere } from './elsewhere.ts';
import { createNoImages, createRecentFailures, failureOf } from './failures.ts';
import { checkSource } from './limits.ts';
import type { Make } from './make.ts';

/** Milliseconds between two looks at what another process makes, where it does not say that it is ready. */
const LOOK = 200;
/** Milliseconds: another process makes its images one after another too. */
const LONGEST_WAIT = 60_000;

interface Deps {
  readonly lock: Lock;
  readonly elsewhere: Elsewhere;
  readonly make: Make;
  readonly log: Log;
  /** Images being made, or waiting for their turn, in this process. */
  readonly most: number;
}

/** `there`: in storage. `noImage`: the source is nothing that can be transformed. */
type Outcome = 'there' | 'noImage';

interface Asked {
  readonly location: Location;
  readonly file: FileRecord;
  readonly variant: Variant;
  /** The variant's name among those of all locations. */
  readonly object: string;
  readonly show: (made: Opened) => void;
}

export interface Once {
  /** Whoever it is made for gets it while it is being stored; all others when it is there. */
  bring(location: Location, file: FileRecord, variant: Variant): Promise<Outcome | Opened>;
  /** Resolves when all that somebody got is stored, or cannot be. Never rejects. */
  kept(): Promise<void>;
}

/**
 * Sees to it that a variant lies in storage. However many ask for it at the same moment, in however many processes, it is
 * made once: those of one process share a promise, and processes a lock.
 */
export function createOnce({ lock, elsewhere, make, log, most }: Deps): Once {
  const underway = new Map<string, Promise<Outcome>>();
  /** Those of which somebody has the image already. */
  const keeping = new Set<Promise<Outcome>>();
  const failed = createRecentFailures();
  const noImages = createNoImages();
  let making = 0;

  /** Counts one that is being made, until what is answered is called. */
  function enter(): () => void {
    let isInside = true;
    making++;
    return () => {
      if (isInside) making--;
      isInside = false;
    };
  }

  async function attempt({ location, file, variant, object, show }: Asked): Promise<Outcome> {
    // Made between our look and our lock.
    if (await location.stat(variant.name)) return 'there';
    if (making >= most) {
      const reason = `${most} images are being made already`;
      throw fail('SERVICE_UNAVAILABLE', reason, { service: 'assets', reason });
    }
    const leave = enter();
    try {
      // Where storage is slower than the work, it sets the pace.
      while (keeping.size >= most) await Promise.race([...keeping].map((one) => one.catch(() => {})));
      await make(location, file, variant, (made) => {
        leave();
        show(made);
      });
    } finally {
      leave();
    }
    // Nobody here waits for that: the others look by themselves as well.
    void elsewhere.announce(object).catch((error) => log.warn({ err: error }, 'others were not told of an image'));
    return 'there';
  }

  async function sharedWithOthers(asked: Asked): Promise<Outcome> {
    const { location, variant, object } = asked;
    const latest = Date.now() + LONGEST_WAIT;
    while (Date.now() < latest) {
      const mine = await lock.attempt(`asset ${object}`, () => attempt(asked));
      if (mine) return mine.value;
      await elsewhere.heard(object, LOOK);
      if (await location.stat(variant.name)) return 'there';
    }
    const reason = 'an image is being made elsewhere and does not get ready';
    throw fail('SERVICE_UNAVAILABLE', reason, { service: 'assets', reason });
  }

  async function store(asked: Asked): Promise<Outcome> {
    const { file, variant, object } = asked;
    checkSource(file, variant.plan);
    try {
      return await sharedWithOthers(asked);
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

  /** Answers what is made as soon as it is shown, or how it ended without that. */
  function begin(location: Location, file: FileRecord, variant: Variant, object: string): Promise<Outcome | Opened> {
    const { promise: shown, resolve } = Promise.withResolvers<Opened>();
    const show = (made: Opened) => {
      keeping.add(stored);
      resolve(made);
    };
    const stored = store({ location, file, variant, object, show }).finally(() => underway.delete(object));
    underway.set(object, stored);
    stored.then(
      () => keeping.delete(stored),
      (error) => {
        if (keeping.delete(stored)) log.info({ object, err: error }, 'an image was sent and could not be kept');
      },
    );
    return Promise.race([shown, stored]);
  }

  return {
    async bring(location, file, variant) {
      const object = `${file.storage} ${variant.name}`;
      const before = failed.get(object);
      if (before) throw before;
      if (noImages.has(sourceOf(file))) return 'noImage';
      return underway.get(object) ?? begin(location, file, variant, object);
    },
    async kept() {
      await Promise.allSettled(keeping);
    },
  };
}

const sourceOf = ({ storage, filename_disk }: FileRecord): string => `${storage} ${filename_disk}`;
