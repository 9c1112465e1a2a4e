import type { Presence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Ledger } from './ledger.ts';

interface Deps {
  readonly db: Db;
  readonly ledger: Pick<Ledger, 'isOpen'>;
  readonly presence: Presence;
}

/** The entries of the ledger that have no writer: their objects are orphaned. */
export interface Orphans {
  /** Takes the writer off entries whose writer is gone. Waits for no row that another transaction holds. */
  release(): Promise<void>;
  /** The locations that hold orphaned objects. */
  locations(): Promise<readonly string[]>;
}

export function createOrphans({ db, ledger, presence }: Deps): Orphans {
  const loose = db.write('platform_loose_objects');
  const CLAIMED = db.sql`select id, writer from ${loose} where writer is not null`;
  const RELEASE = db.sql`update ${loose} set writer = null where id in (
    select id from ${loose} where id = any($1::uuid[]) for update skip locked)`;
  const LOCATIONS = db.sql`select distinct storage from ${loose} where writer is null`;

  return {
    async release() {
      const { rows } = await db.query<{ id: string; writer: string }>(CLAIMED);
      const others = [...new Set(rows.map(({ writer }) => writer))].filter((one) => one !== presence.id);
      const gone = others.length > 0 ? await presence.gone(others) : [];
      // Of this process those that it gave up while the database was away: they are in the ledger, and no upload works on them.
      const dead = rows.filter(({ id, writer }) =>
        writer === presence.id ? !ledger.isOpen(id) : gone.includes(writer),
      );
      if (dead.length === 0) return;
      await db.query(RELEASE, [dead.map(({ id }) => id)]);
    },
    async locations() {
      const { rows } = await db.query<{ storage: string }>(LOCATIONS);
      return rows.map(({ storage }) => storage);
    },
  };
}
