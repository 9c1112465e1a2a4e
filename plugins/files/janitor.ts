import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#kernel';
import type { Bus, Lock, Presence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Schedule, Scheduled } from '../schedule/contract.ts';
import type { Storage } from '../storage/contract.ts';
import { createClearing } from './clearing.ts';
import type { Ledger } from './ledger.ts';
import { LOOSE } from './let-go.ts';
import { createOrphans } from './orphans.ts';

const EVERY = 60_000;
/** After the start once more: the database may take a moment to notice that the process before this one has died. */
const AFTER_START = 5000;
/** A batch of deletes says so many times; one look a little later finds all of it. */
const SOON = 100;
const LONGEST_WAIT = 10_000;

interface Deps {
  readonly bus: Bus;
  readonly db: Db;
  readonly ledger: Pick<Ledger, 'isOpen'>;
  readonly lock: Pick<Lock, 'attempt'>;
  readonly log: Log;
  readonly presence: Presence;
  readonly schedule: Pick<Schedule, 'start'>;
  readonly storage: Storage;
}

export interface Janitor {
  start(): void;
  stop(): Promise<void>;
  /** One round over everything; answers when it is done, here or in another process. */
  sweep(): Promise<void>;
  /** See `RouteDeps.swept`. */
  swept(): Promise<void>;
}

/**
 * Removes the objects that the ledger says are nobody's: those of rows that are gone, and those whose writer died before
 * there was a row. One process at a time does so, and what cannot be removed now stays in the ledger for the next time.
 */
export function createJanitor({ ledger, presence, bus, schedule, ...deps }: Deps): Janitor {
  const { db, log } = deps;
  const orphans = createOrphans({ db, ledger, presence });
  const ending = new AbortController();
  const clearing = createClearing({ ...deps, ending: ending.signal });
  const atWork = new Set<Promise<void>>();
  let rounds: Scheduled | undefined;
  let afterStart: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;

  async function round(): Promise<void> {
    await orphans.release();
    // Where another process is at it, it does ours as well: it hears of the same things.
    await Promise.all((await orphans.locations()).map((location) => clearing.attempt(location)));
  }

  async function clearReachable(): Promise<void> {
    const locations = (await orphans.locations()).filter((location) => !clearing.isDown(location));
    await Promise.all(locations.map((location) => clearing.clear(location)));
  }

  /** Kept in mind until it ends, and never fails. */
  function watched(work: Promise<void>): Promise<void> {
    const quiet = work
      .catch((error) => {
        if (!ending.signal.aborted)
          log.warn({ err: error }, 'loose objects could not be looked for; tried again later');
      })
      .finally(() => atWork.delete(quiet));
    atWork.add(quiet);
    return quiet;
  }

  const inBackground = () => void watched(round());

  function shortly(): void {
    if (ending.signal.aborted || soon) return;
    soon = setTimeout(() => {
      soon = undefined;
      inBackground();
    }, SOON);
  }

  bus.subscribe(LOOSE, shortly);
  bus.onGap(shortly);

  return {
    async sweep() {
      await orphans.release();
      await Promise.all((await orphans.locations()).map((location) => clearing.clear(location)));
    },
    start() {
      rounds = schedule.start({
        name: 'files janitor',
        at: { every: EVERY },
        // Each process gives up what it has itself abandoned, which no other process can know. What is then removed is locked by
        // location, and rounds that overlap share that.
        scope: 'process',
        overlap: 'allow',
        log,
        run: inBackground,
      });
      afterStart = setTimeout(inBackground, AFTER_START);
      inBackground();
    },
    async stop() {
      ending.abort();
      for (const timer of [afterStart, soon]) clearTimeout(timer);
      await rounds?.stop();
      await Promise.all(atWork);
    },
    async swept() {
      await atMost(LONGEST_WAIT, watched(clearReachable()));
    },
  };
}

/** Resolves with `work`, which never rejects, or after the milliseconds at the latest. */
async function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  const late = new AbortController();
  const longest = pause(milliseconds, undefined, { signal: late.signal }).catch(() => {});
  await Promise.race([work, longest]);
  late.abort();
}
