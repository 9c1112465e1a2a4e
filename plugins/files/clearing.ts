import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#kernel';
import type { Lock } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Storage } from '../storage/contract.ts';
import { removeObject } from './objects.ts';

const BATCH = 200;
const AT_ONCE = 8;
/** So many failures in a row, and a location is left alone until the next time. */
const PATIENCE = 3;
/** Milliseconds until it is tried again where another process is at it. */
const ANOTHER_TURN = 50;

interface Deps {
  readonly db: Db;
  readonly lock: Pick<Lock, 'attempt'>;
  readonly log: Log;
  readonly storage: Storage;
  readonly ending: AbortSignal;
}

/** Removes what the ledger holds for nobody, location by location: one that is down keeps none of the others waiting. */
export interface Clearing {
  /** Begins after it was called; false where another process is at it. */
  attempt(location: string): Promise<boolean>;
  /** The same when it is its turn. */
  clear(location: string): Promise<void>;
  /** Did something fail there the last time? */
  isDown(location: string): boolean;
}

interface Loose {
  readonly id: string;
  readonly name: string;
  /** A row names it after all. */
  readonly named: boolean;
}

export function createClearing({ db, lock, log, storage, ending }: Deps): Clearing {
  const loose = db.write('platform_loose_objects');
  const CLOCK = db.sql`select now()::text as until`;
  const NEXT = db.sql`select l.id, l.name, exists (
      select from ${db.read('platform_files')} f where f.storage = l.storage and f.filename_disk = l.name) as named
    from ${loose} l where l.writer is null and l.storage = $1 and l.since <= $2 order by l.since limit $3`;
  const POSTPONE = db.sql`update ${loose} set since = now() where id = $1`;
  const FORGET = db.sql`delete from ${loose} where id = $1`;
  const down = new Set<string>();
  const running = new Map<string, Promise<boolean>>();
  const next = new Map<string, Promise<boolean>>();

  async function clearNow(location: string): Promise<void> {
    // Of the database's clock: what fails is moved behind it.
    const { rows: clock } = await db.query<{ until: string }>(CLOCK);
    let inARow = 0;
    let hasFailed = false;
    for (;;) {
      const { rows } = await db.query<Loose>(NEXT, [location, clock[0]?.until, BATCH]);
      const left = [...rows];
      const work = async () => {
        for (let one = left.shift(); one && inARow < PATIENCE && !ending.aborted; one = left.shift()) {
          const done = await clearOne(location, one);
          inARow = done ? 0 : inARow + 1;
          hasFailed ||= !done;
        }
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, work));
      if (rows.length < BATCH || inARow >= PATIENCE || ending.aborted) break;
    }
    if (!hasFailed) down.delete(location);
  }

  async function clearOne(location: string, { id, name, named }: Loose): Promise<boolean> {
    try {
      if (!named) await removeObject(storage.at(location), name);
    } catch (error) {
      if (!down.has(location))
        log.warn({ err: error, storage: location, object: name }, 'objects cannot be removed now; tried again later');
      down.add(location);
      // To the end of the line, so that one stubborn object does not keep the others waiting.
      await db.query(POSTPONE, [id]);
      return false;
    }
    await db.query(FORGET, [id]);
    return true;
  }

  function attempt(location: string): Promise<boolean> {
    const before = running.get(location);
    if (!before) {
      const now = lock
        .attempt(`files janitor ${location}`, () => clearNow(location))
        .then((done) => done !== undefined)
        .finally(() => running.delete(location));
      running.set(location, now);
      return now;
    }
    // What runs already may have looked before; all who come meanwhile share the one after it.
    const after =
      next.get(location) ??
      before
        .catch(() => {})
        .then(() => {
          next.delete(location);
          return attempt(location);
        });
    next.set(location, after);
    return after;
  }

  return {
    attempt,
    async clear(location) {
      while (!ending.aborted && !(await attempt(location))) await pause(ANOTHER_TURN);
    },
    isDown: (location) => down.has(location),
  };
}
