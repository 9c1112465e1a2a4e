import { randomUUID } from 'node:crypto';
import type { Log } from '#kernel';
import type { Presence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Location, PlaceIdentity, Storage } from '../storage/contract.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly presence: Presence;
  readonly storage: Storage;
}

interface OtherPlace {
  readonly process: string;
  readonly location: string;
  readonly name: string;
}

/** What each process on the database says of its locations: a folder of one machine is not that of another. */
export interface SharedPlaces {
  /** Records the places of this process, and warns of locations that are another place in a process that runs. */
  announce(): Promise<void>;
  /** Takes the record back. Never fails. */
  withdraw(): Promise<void>;
}

export function createSharedPlaces({ db, log, presence, storage }: Deps): SharedPlaces {
  const places = db.own('platform_storage_places');
  const RECORD = db.sql`insert into ${places} (id, process, location, place, name) values ($1, $2, $3, $4, $5)
    on conflict (process, location) do update set place = excluded.place, name = excluded.name`;
  const OTHERS = db.sql`select process, location, name from ${places}
    where location = $1 and place <> $2 and process <> $3::uuid order by name`;
  const FORGET = db.sql`delete from ${places} where process = any($1::uuid[])`;

  async function warn(location: Location, { id, name }: PlaceIdentity): Promise<void> {
    const { rows } = await db.query<OtherPlace>(OTHERS, [location.name, id, presence.id]);
    if (rows.length === 0) return;
    const gone = await presence.gone(rows.map(({ process }) => process));
    if (gone.length > 0) await db.query(FORGET, [gone]);
    const others = rows.filter(({ process }) => !gone.includes(process)).map((one) => one.name);
    if (others.length === 0) return;
    const variable = `STORAGE_${location.name.toUpperCase().replaceAll('-', '_')}`;
    log.warn(
      { storage: location.name, place: name, others },
      `the storage location ${location.name} is another folder in this process than in others on this database: files that one of them keeps are not found by the others. Set ${variable}_ROOT (or DATA_PATH) to a folder that all of them share, or keep files where all reach them (${variable}_DRIVER=s3)`,
    );
  }

  let isAnnounced = false;
  return {
    async announce() {
      isAnnounced = true;
      for (const one of storage.locations) {
        const location = storage.at(one);
        const identity = await location.identity?.();
        if (!identity) continue;
        await db.query(RECORD, [randomUUID(), presence.id, one, identity.id, identity.name]);
        await warn(location, identity);
      }
    },
    async withdraw() {
      // Where the database is not reached, the next process that starts forgets this one.
      if (isAnnounced) await db.query(FORGET, [[presence.id]]).catch(() => {});
    },
  };
}
