import type { Db, GrantedSqlStatement } from '../database/contract.ts';
import { toUnavailableOnDatabaseOutage } from '../database/library.ts';
import { EXTENSION_GRANTS_TABLE } from './migrations.ts';
import type { RequestedGrants } from './requested-grants.ts';

export interface PackageConsentRecord {
  readonly version: string;
  readonly requested: RequestedGrants;
}

/** A package by name and location: a package with another name at the same location counts as an upgrade. */
export interface PackageIdentity {
  readonly name: string;
  /** The id of the package, a UUID computed from its location. */
  readonly locationId: string;
}

/** Agreements of all processes on this database, by package name. */
export interface ConsentStore {
  /** Agreements of this name and of this location. */
  find(subject: PackageIdentity): Promise<readonly PackageConsentRecord[]>;
  /** Agreements of this location, under any name. */
  findByLocation(place: string): Promise<readonly PackageConsentRecord[]>;
  /** Stores the first agreement of a name. False if there is one: only one of several processes stores it. */
  putFirst(subject: PackageIdentity, agreement: PackageConsentRecord): Promise<boolean>;
  /** Stores the current requests as allowed by the user `by`; null keeps the user of the previous agreement. */
  put(subject: PackageIdentity, agreement: PackageConsentRecord, by: string | null): Promise<void>;
}

export function createConsentStore(db: Pick<Db, 'query' | 'write' | 'sql' | 'transaction'>): ConsentStore {
  const grants = db.write(EXTENSION_GRANTS_TABLE);
  const FIND = db.sql`select version, asked as requested from ${grants} where name = $1 or $2 = any(places)`;
  const FIND_AT = db.sql`select version, asked as requested from ${grants} where $1 = any(places)`;
  const FIRST = db.sql`insert into ${grants} (name, version, asked, places) values ($1, $2, $3, array[$4::uuid])
    on conflict (name) do nothing returning 1`;
  const PUT = db.sql`insert into ${grants} as g (name, version, asked, agreed_by, places) values ($1, $2, $3, $4, array[$5::uuid])
    on conflict (name) do update set version = excluded.version, asked = excluded.asked,
      agreed_by = coalesce(excluded.agreed_by, g.agreed_by),
      agreed_on = case when excluded.agreed_by is null then g.agreed_on else now() end,
      places = array(select distinct unnest(g.places || excluded.places))`;
  const TAKE_PLACE = db.sql`update ${grants} set places = array_remove(places, $2::uuid) where name <> $1 and $2 = any(places)`;

  const run = async (statement: GrantedSqlStatement, params: readonly unknown[]) => {
    try {
      return await db.query<PackageConsentRecord>(statement, params);
    } catch (error) {
      throw toUnavailableOnDatabaseOutage(error);
    }
  };
  return {
    find: async ({ name, locationId }) => (await run(FIND, [name, locationId])).rows,
    findByLocation: async (place) => (await run(FIND_AT, [place])).rows,
    async putFirst({ name, locationId }, { version, requested }) {
      const { rows } = await run(FIRST, [name, version, JSON.stringify(requested), locationId]);
      return rows.length > 0;
    },
    put: ({ name, locationId }, { version, requested }, by) =>
      db.transaction(async () => {
        await run(PUT, [name, version, JSON.stringify(requested), by, locationId]);
        await run(TAKE_PLACE, [name, locationId]);
      }),
  };
}
