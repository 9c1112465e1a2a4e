import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { OrphanLedger } from './orphan-ledger.ts';

interface Deps {
  readonly db: Db;
  readonly ledger: Pick<OrphanLedger, 'isOpen'>;
  readonly presence: ProcessPresence;
}

/** The entries of the ledger that have no writer: their objects are orphaned. */
export interface OrphanQueries {
  /** Takes the writer off entries whose writer has ended. Skips rows that another transaction has locked. */
  releaseAbandoned(): Promise<void>;
  /** The locations that hold orphaned objects. */
  locations(): Promise<readonly string[]>;
}

export function createOrphanQueries({ db, ledger, presence }: Deps): OrphanQueries {
  const table = db.write('platform_orphaned_objects');
  const CLAIMED_ENTRIES = db.sql`select id, writer from ${table} where writer is not null`;
  const RELEASE_ENTRIES = db.sql`update ${table} set writer = null where id in (
    select id from ${table} where id = any($1::uuid[]) for update skip locked)`;
  const LOCATIONS = db.sql`select distinct storage from ${table} where writer is null`;

  return {
    async releaseAbandoned() {
      const { rows } = await db.query<{ id: string; writer: string }>(CLAIMED_ENTRIES);
      const otherWriters = [...new Set(rows.map(({ writer }) => writer))].filter((one) => one !== presence.id);
      const deadWriters = otherWriters.length > 0 ? await presence.findDead(otherWriters) : [];
      // An entry of this process that no upload works on was abandoned while the database was unreachable.
      const abandoned = rows.filter(({ id, writer }) =>
        writer === presence.id ? !ledger.isOpen(id) : deadWriters.includes(writer),
      );
      if (abandoned.length === 0) return;
      await db.query(RELEASE_ENTRIES, [abandoned.map(({ id }) => id)]);
    },
    async locations() {
      const { rows } = await db.query<{ storage: string }>(LOCATIONS);
      return rows.map(({ storage }) => storage);
    },
  };
}
