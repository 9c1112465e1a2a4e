import { randomUUID } from 'node:crypto';
import { fail, type Log } from '#kernel';
import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { StorageLocation } from '../storage/contract.ts';
import { removeObjectWithVariants } from './remove-with-variants.ts';

/** An object whose bytes are being written by this process. */
export interface PendingUploadLedgerEntry {
  /**
   * Deletes the entry in the unit of work that writes the row: from its commit on the row owns the object.
   * @throws SERVICE_UNAVAILABLE if another process has counted this one as ended and taken the entry.
   */
  transferToRow(): Promise<void>;
  /** Closes the entry; called after the commit. */
  close(): void;
  /** Gives the object up after a failure: removes the object and its entry, or leaves both to the janitor. Never rejects. */
  abandon(): Promise<void>;
}

export interface OrphanLedger {
  /** Creates the entry of an object. Call it before the first byte is written. */
  open(location: StorageLocation, name: string): Promise<PendingUploadLedgerEntry>;
  /** True while an upload of this process works on the entry. */
  isOpen(id: string): boolean;
}

interface Deps {
  readonly db: Db;
  readonly presence: ProcessPresence;
  readonly log: Log;
}

export function createOrphanLedger({ db, presence, log }: Deps): OrphanLedger {
  const open = new Set<string>();
  const ledger = db.write('platform_orphaned_objects');
  const INSERT_ENTRY = db.sql`insert into ${ledger} (id, storage, name, writer) values ($1, $2, $3, $4)`;
  const RELEASE_ENTRY = db.sql`update ${ledger} set writer = null where id = $1 and writer = $2`;
  const TAKE_ENTRY = db.sql`delete from ${ledger} where id = $1 and writer = $2`;
  const DELETE_ENTRY = db.sql`delete from ${ledger} where id = $1`;
  const IS_REFERENCED = db.sql`select 1 from ${db.read('platform_files')} where storage = $1 and filename_disk = $2
    union all select 1 from ${ledger} where storage = $1 and name = $2 limit 1`;

  /** Takes the writer off the entry. False if this process does not own it any more: it was transferred or taken. */
  async function release(id: string): Promise<boolean> {
    const { count } = await db.query(RELEASE_ENTRY, [id, presence.id]);
    return count === 1;
  }

  /** True if a file or an entry names the object. */
  async function isReferenced(location: StorageLocation, name: string): Promise<boolean> {
    const { rows } = await db.query(IS_REFERENCED, [location.name, name]);
    return rows.length > 0;
  }

  return {
    isOpen: (id) => open.has(id),
    async open(location, name) {
      const id = randomUUID();
      // First, so that the janitor of this process never counts the new entry as abandoned.
      open.add(id);
      try {
        await db.query(INSERT_ENTRY, [id, location.name, name, presence.id]);
      } catch (error) {
        open.delete(id);
        throw error;
      }
      return {
        async transferToRow() {
          const { count } = await db.query(TAKE_ENTRY, [id, presence.id]);
          if (count === 1) return;
          throw fail('SERVICE_UNAVAILABLE', 'The file was lost while it was written; try again.', { service: 'files' });
        },
        close: () => void open.delete(id),
        async abandon() {
          try {
            // A commit whose answer was lost may have happened: the object is removed only if this process still owns the entry.
            if (await release(id)) {
              await removeObjectWithVariants(location, name);
              await db.query(DELETE_ENTRY, [id]);
            } else if (!(await isReferenced(location, name))) await removeObjectWithVariants(location, name);
          } catch (error) {
            log.warn(
              { err: error, storage: location.name, object: name },
              'an object without a file could not be removed; the janitor removes it later',
            );
          } finally {
            open.delete(id);
          }
        },
      };
    },
  };
}
