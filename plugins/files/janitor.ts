import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#kernel';
import type { InterProcessBus, InterProcessLock, ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { JobScheduler, ScheduledJobHandle } from '../schedule/contract.ts';
import type { StorageService } from '../storage/contract.ts';
import type { OrphanLedger } from './orphan-ledger.ts';
import { createOrphanQueries } from './orphan-queries.ts';
import { createOrphanedObjectRemover } from './orphan-removal.ts';
import { ORPHANS_CHANNEL } from './orphan-triggers.ts';

const ROUND_INTERVAL = 60_000;
/** Milliseconds after the start until the second round: PostgreSQL may notice late that an earlier process has died. */
const STARTUP_DELAY = 5000;
/** Milliseconds between a notification and its round: a batch of deletes sends many notifications, and one round serves all. */
const DEBOUNCE = 100;
/** Milliseconds that a route waits for the removal of bytes. */
const MAX_WAIT = 10_000;

interface Deps {
  readonly bus: InterProcessBus;
  readonly db: Db;
  readonly ledger: Pick<OrphanLedger, 'isOpen'>;
  readonly lock: Pick<InterProcessLock, 'attempt' | 'isHeld'>;
  readonly log: Log;
  readonly presence: ProcessPresence;
  readonly schedule: Pick<JobScheduler, 'start'>;
  readonly storage: StorageService;
}

export interface OrphanJanitor {
  start(): void;
  stop(): Promise<void>;
  /** Removes every orphaned object. Resolves when this process or another one has finished the round. */
  sweep(): Promise<void>;
  /** See `FileRouteDeps.waitForRemoval`. */
  waitForRemoval(): Promise<void>;
}

/**
 * The janitor deletes orphaned objects: those whose row is gone, and those whose writer died before there was a row. One process
 * at a time works on a location. An object that cannot be removed stays in the ledger for the next round.
 */
export function createOrphanJanitor({ ledger, presence, bus, schedule, ...deps }: Deps): OrphanJanitor {
  const { db, log } = deps;
  const orphans = createOrphanQueries({ db, ledger, presence });
  const stopping = new AbortController();
  const clearing = createOrphanedObjectRemover({ ...deps, stopping: stopping.signal });
  const running = new Set<Promise<void>>();
  let rounds: ScheduledJobHandle | undefined;
  let afterStart: NodeJS.Timeout | undefined;
  let debounce: NodeJS.Timeout | undefined;

  async function runRound(): Promise<void> {
    await orphans.releaseAbandoned();
    // A location that another process works on is skipped: that process gets the same notifications.
    await Promise.all((await orphans.locations()).map((location) => clearing.tryRemove(location)));
  }

  async function removeReachable(): Promise<void> {
    const locations = (await orphans.locations()).filter((location) => !clearing.isUnavailable(location));
    await Promise.all(locations.map((location) => clearing.removeAll(location)));
  }

  /** Keeps track of work that `stop` waits for. Never rejects. */
  function track(work: Promise<void>): Promise<void> {
    const settled = work
      .catch((error) => {
        if (!stopping.signal.aborted)
          log.warn({ err: error }, 'the janitor could not look for orphaned objects; it tries again within a minute');
      })
      .finally(() => running.delete(settled));
    running.add(settled);
    return settled;
  }

  const inBackground = () => void track(runRound());

  function scheduleRound(): void {
    if (stopping.signal.aborted || debounce) return;
    debounce = setTimeout(() => {
      debounce = undefined;
      inBackground();
    }, DEBOUNCE);
  }

  bus.subscribe(ORPHANS_CHANNEL, scheduleRound);
  bus.onReconnect(scheduleRound);

  return {
    async sweep() {
      await orphans.releaseAbandoned();
      await Promise.all((await orphans.locations()).map((location) => clearing.removeAll(location)));
    },
    start() {
      rounds = schedule.start({
        name: 'files janitor',
        at: { every: ROUND_INTERVAL },
        // Every process runs rounds: only the process itself knows which of its uploads it has abandoned. The removal is locked
        // by location, and overlapping rounds share it.
        scope: 'process',
        overlap: 'allow',
        log,
        run: inBackground,
      });
      afterStart = setTimeout(inBackground, STARTUP_DELAY);
      inBackground();
    },
    async stop() {
      stopping.abort();
      for (const timer of [afterStart, debounce]) clearTimeout(timer);
      await rounds?.stop();
      await Promise.all(running);
    },
    async waitForRemoval() {
      await withTimeLimit(MAX_WAIT, track(removeReachable()));
    },
  };
}

/** Resolves with `work`, which never rejects, or after `milliseconds`. */
async function withTimeLimit(milliseconds: number, work: Promise<void>): Promise<void> {
  const finished = new AbortController();
  const limit = pause(milliseconds, undefined, { signal: finished.signal }).catch(() => {});
  await Promise.race([work, limit]);
  finished.abort();
}
