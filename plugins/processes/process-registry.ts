import { hostname } from 'node:os';
import { VERSION } from '#kernel';
import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { DescribedSettings } from './described-settings.ts';
import { PROCESSES_TABLE } from './migration.ts';

/** A process on the database that is alive. */
export interface LiveProcess {
  readonly id: string;
  /** Host and process id, such as `web-1:4711`. */
  readonly name: string;
  readonly version: string;
  readonly settings: DescribedSettings;
}

/** The table of processes. A row whose process has died is deleted by the next one that starts. */
export interface ProcessRegistry {
  /** Records this process, and answers the others that are alive. */
  register(settings: DescribedSettings): Promise<readonly LiveProcess[]>;
  /** Deletes the record. Never rejects. */
  unregister(): Promise<void>;
}

interface Deps {
  readonly db: Db;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
}

export function createProcessRegistry({ db, presence }: Deps): ProcessRegistry {
  const table = db.own(PROCESSES_TABLE);
  const INSERT = db.sql`insert into ${table} (id, name, version, settings) values ($1, $2, $3, $4)`;
  const SELECT_OTHERS = db.sql`select id, name, version, settings from ${table} where id <> $1::uuid order by name`;
  const DELETE = db.sql`delete from ${table} where id = any($1::uuid[])`;
  let isRegistered = false;
  return {
    async register(settings) {
      // Recorded before the others are read: of two that start at the same time, at least one sees the other.
      isRegistered = true;
      await db.query(INSERT, [presence.id, `${hostname()}:${process.pid}`, VERSION, JSON.stringify(settings)]);
      const { rows } = await db.query<LiveProcess>(SELECT_OTHERS, [presence.id]);
      if (rows.length === 0) return [];
      const dead = await presence.findDead(rows.map(({ id }) => id));
      if (dead.length > 0) await db.query(DELETE, [dead]);
      return rows.filter(({ id }) => !dead.includes(id));
    },
    async unregister() {
      if (isRegistered) await db.query(DELETE, [[presence.id]]).catch(() => {});
    },
  };
}
