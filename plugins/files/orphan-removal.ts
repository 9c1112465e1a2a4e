import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#kernel';
import type { InterProcessLock } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import { REMOVAL_HOLD_LOCK, type StorageService } from '../storage/contract.ts';
import { removeObjectWithVariants } from './remove-with-variants.ts';

const BATCH = 200;
const CONCURRENCY = 8;
/** After this many failures in a row the round leaves the location to the next round. */
const MAX_CONSECUTIVE_FAILURES = 3;
/** Milliseconds between two attempts while another process holds the lock of the location. */
const RETRY_INTERVAL = 50;

interface Deps {
  readonly db: Db;
  readonly lock: Pick<InterProcessLock, 'attempt' | 'isHeld'>;
  readonly log: Log;
  readonly storage: StorageService;
  readonly stopping: AbortSignal;
}

/** Removes orphaned objects, each location by itself: an unavailable location does not delay the others. */
export interface OrphanedObjectRemover {
  /** Starts a run that sees all entries made before the call. False if another process works on the location. */
  tryRemove(location: string): Promise<boolean>;
  /** Removes all orphaned objects of a location, like `tryRemove`, but waits while another process works on it. */
  removeAll(location: string): Promise<void>;
  /** True if the last run failed to remove an object there. */
  isUnavailable(location: string): boolean;
}

interface OrphanedObject {
  readonly id: string;
  readonly name: string;
  /** A row names the object, so only the entry is removed. */
  readonly isReferenced: boolean;
}

function orphanStatements(db: Db) {
  const ledger = db.write('platform_orphaned_objects');
  return {
    CLOCK: db.sql`select now()::text as until`,
    SELECT_BATCH: db.sql`select l.id, l.name, exists (
      select from ${db.read('platform_files')} f where f.storage = l.storage and f.filename_disk = l.name) as "isReferenced"
    from ${ledger} l where l.writer is null and l.storage = $1 and l.since <= $2 order by l.since limit $3`,
    POSTPONE: db.sql`update ${ledger} set since = now() where id = $1`,
    DELETE_ENTRY: db.sql`delete from ${ledger} where id = $1`,
  };
}

export function createOrphanedObjectRemover({ db, lock, log, storage, stopping }: Deps): OrphanedObjectRemover {
  const { CLOCK, SELECT_BATCH, POSTPONE, DELETE_ENTRY } = orphanStatements(db);
  const unavailable = new Set<string>();
  const running = new Map<string, Promise<boolean>>();
  const next = new Map<string, Promise<boolean>>();

  async function removeFrom(location: string): Promise<void> {
    // By the clock of PostgreSQL: entries that fail get a later time, and this run does not see them again.
    const { rows: clock } = await db.query<{ until: string }>(CLOCK);
    let consecutiveFailures = 0;
    let hasFailed = false;
    for (;;) {
      const { rows } = await db.query<OrphanedObject>(SELECT_BATCH, [location, clock[0]?.until, BATCH]);
      // In this order: a snapshot that is taken under a lock of later does not name the objects of this batch any more.
      if (rows.length > 0 && (await lock.isHeld(REMOVAL_HOLD_LOCK))) return;
      const queue = [...rows];
      const work = async () => {
        for (
          let object = queue.shift();
          object && consecutiveFailures < MAX_CONSECUTIVE_FAILURES && !stopping.aborted;
          object = queue.shift()
        ) {
          const done = await removeOne(location, object);
          consecutiveFailures = done ? 0 : consecutiveFailures + 1;
          hasFailed ||= !done;
        }
      };
      await Promise.all(Array.from({ length: Math.min(CONCURRENCY, queue.length) }, work));
      if (rows.length < BATCH || consecutiveFailures >= MAX_CONSECUTIVE_FAILURES || stopping.aborted) break;
    }
    if (!hasFailed) unavailable.delete(location);
  }

  async function removeOne(location: string, { id, name, isReferenced }: OrphanedObject): Promise<boolean> {
    try {
      if (!isReferenced) await removeObjectWithVariants(storage.at(location), name);
    } catch (error) {
      if (!unavailable.has(location))
        log.warn({ err: error, storage: location, object: name }, 'objects cannot be removed now; tried again later');
      unavailable.add(location);
      // The entry moves to the end, so that one object that cannot be removed does not delay the others.
      await db.query(POSTPONE, [id]);
      return false;
    }
    await db.query(DELETE_ENTRY, [id]);
    return true;
  }

  function tryRemove(location: string): Promise<boolean> {
    const current = running.get(location);
    if (!current) {
      const attempt = lock
        .attempt(`files janitor ${location}`, () => removeFrom(location))
        .then((done) => done !== undefined)
        .finally(() => running.delete(location));
      running.set(location, attempt);
      return attempt;
    }
    // The current run may have read the ledger before this call. All calls during it share the next run.
    const after =
      next.get(location) ??
      current
        .catch(() => {})
        .then(() => {
          next.delete(location);
          return tryRemove(location);
        });
    next.set(location, after);
    return after;
  }

  return {
    tryRemove,
    async removeAll(location) {
      while (!stopping.aborted && !(await tryRemove(location))) await pause(RETRY_INTERVAL);
    },
    isUnavailable: (location) => unavailable.has(location),
  };
}
