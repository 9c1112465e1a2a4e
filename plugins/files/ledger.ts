import { randomUUID } from 'node:crypto';
import { fail, type Log } from '#kernel';
import type { Presence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Location } from '../storage/contract.ts';
import { removeObject } from './objects.ts';

/** An object whose bytes are being written by this process. */
export interface Entry {
  /**
   * In the unit of work that writes the row of the object: from its commit on the object is that row's. SERVICE_UNAVAILABLE where
   * others have taken this process for gone, and the object for their prey.
   */
  settle(): Promise<void>;
  /** After the commit. */
  done(): void;
  /** After whatever went wrong: object and entry go, now or later by the janitor. Never fails. */
  abandon(): Promise<void>;
}

export interface Ledger {
  /** Before the first byte is written. */
  open(location: Location, name: string): Promise<Entry>;
  /** Is this entry of somebody in this process who is at work? */
  isOpen(id: string): boolean;
}

interface Deps {
  readonly db: Db;
  readonly presence: Presence;
  readonly log: Log;
}

export function createLedger({ db, presence, log }: Deps): Ledger {
  const open = new Set<string>();
  const loose = db.write('platform_loose_objects');
  const OPEN = db.sql`insert into ${loose} (id, storage, name, writer) values ($1, $2, $3, $4)`;
  const RELEASE = db.sql`update ${loose} set writer = null where id = $1 and writer = $2`;
  const SETTLE = db.sql`delete from ${loose} where id = $1 and writer = $2`;
  const FORGET = db.sql`delete from ${loose} where id = $1`;
  const KNOWN = db.sql`select 1 from ${db.read('platform_files')} where storage = $1 and filename_disk = $2
    union all select 1 from ${loose} where storage = $1 and name = $2 limit 1`;

  /** The entry is anybody's from now on; false where it is not ours any more: settled, or taken. */
  async function release(id: string): Promise<boolean> {
    const { count } = await db.query(RELEASE, [id, presence.id]);
    return count === 1;
  }

  /** Does a row of either table speak of it? */
  async function isKnown(location: Location, name: string): Promise<boolean> {
    const { rows } = await db.query(KNOWN, [location.name, name]);
    return rows.length > 0;
  }

  return {
    isOpen: (id) => open.has(id),
    async open(location, name) {
      const id = randomUUID();
      // First, so that nobody here finds the entry and not its writer.
      open.add(id);
      try {
        await db.query(OPEN, [id, location.name, name, presence.id]);
      } catch (error) {
        open.delete(id);
        throw error;
      }
      return {
        async settle() {
          const { count } = await db.query(SETTLE, [id, presence.id]);
          if (count === 1) return;
          throw fail('SERVICE_UNAVAILABLE', 'The file was lost while it was written; try again.', { service: 'files' });
        },
        done: () => void open.delete(id),
        async abandon() {
          try {
            // A commit whose answer was lost may have happened all the same: only what is still ours is removed.
            if (await release(id)) {
              await removeObject(location, name);
              await db.query(FORGET, [id]);
            } else if (!(await isKnown(location, name))) await removeObject(location, name);
          } catch (error) {
            log.warn(
              { err: error, storage: location.name, object: name },
              'an object without a file is left for later',
            );
          } finally {
            open.delete(id);
          }
        },
      };
    },
  };
}
