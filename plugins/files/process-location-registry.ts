import { randomUUID } from 'node:crypto';
import type { Log } from '#kernel';
import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { StorageIdentity, StorageLocation, StorageService } from '../storage/contract.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly presence: ProcessPresence;
  readonly storage: StorageService;
}

interface OtherProcessLocation {
  readonly process: string;
  readonly location: string;
  readonly name: string;
}

/** Table of the storage locations of every process: the same path may be another folder on another machine. */
export interface ProcessStorageLocationRegistry {
  /** Records the locations of this process, and logs a warning for each one that differs from that of a live process. */
  register(): Promise<void>;
  /** Deletes the record. Never rejects. */
  unregister(): Promise<void>;
}

export function createProcessStorageLocationRegistry({
  db,
  log,
  presence,
  storage,
}: Deps): ProcessStorageLocationRegistry {
  const table = db.own('platform_storage_locations');
  const UPSERT = db.sql`insert into ${table} (id, process, location, place, name) values ($1, $2, $3, $4, $5)
    on conflict (process, location) do update set place = excluded.place, name = excluded.name`;
  const SELECT_OTHERS = db.sql`select process, location, name from ${table}
    where location = $1 and place <> $2 and process <> $3::uuid order by name`;
  const DELETE_PROCESSES = db.sql`delete from ${table} where process = any($1::uuid[])`;

  async function warnOfMismatch(location: StorageLocation, { id, name }: StorageIdentity): Promise<void> {
    const { rows } = await db.query<OtherProcessLocation>(SELECT_OTHERS, [location.name, id, presence.id]);
    if (rows.length === 0) return;
    const deadProcesses = await presence.findDead(rows.map(({ process }) => process));
    if (deadProcesses.length > 0) await db.query(DELETE_PROCESSES, [deadProcesses]);
    const others = rows.filter(({ process }) => !deadProcesses.includes(process)).map((one) => one.name);
    if (others.length === 0) return;
    const variable = `STORAGE_${location.name.toUpperCase().replaceAll('-', '_')}`;
    log.warn(
      { storage: location.name, place: name, others },
      `the storage location ${location.name} is another folder in this process than in other processes on this database, so they do not find each other's files. Set ${variable}_ROOT (or DATA_PATH) to a folder that all of them share, or use a shared storage (${variable}_DRIVER=s3)`,
    );
  }

  let isRegistered = false;
  return {
    async register() {
      isRegistered = true;
      for (const one of storage.locations) {
        const location = storage.at(one);
        const identity = await location.identity?.();
        if (!identity) continue;
        await db.query(UPSERT, [randomUUID(), presence.id, one, identity.id, identity.name]);
        await warnOfMismatch(location, identity);
      }
    },
    async unregister() {
      // If the database is unreachable, the next process that starts deletes the record.
      if (isRegistered) await db.query(DELETE_PROCESSES, [[presence.id]]).catch(() => {});
    },
  };
}
