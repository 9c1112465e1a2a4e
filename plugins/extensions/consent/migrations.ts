import { type Db, identifier, type Migration } from '../../database/contract.ts';

/** What each confined package was last allowed; one row a name. In no API but its own routes. */
export const grantsTable = (db: Pick<Db, 'schemas'>): string =>
  `${identifier(db.schemas[0] as string)}.platform_extension_grants`;

export const extensionGrants: Migration = {
  id: '2026-11-21-extension-grants',
  async up(db) {
    await db.query(`create table if not exists ${grantsTable(db)} (
      name text primary key,
      version text not null,
      asked json not null,
      agreed_by uuid,
      agreed_on timestamptz not null default now()
    )`);
  },
};

/** Where packages of a name were found, by their ids. */
export const extensionGrantPlaces: Migration = {
  id: '2026-11-21-extension-grant-places',
  async up(db) {
    await db.query(`alter table ${grantsTable(db)} add column if not exists places uuid[] not null default '{}'`);
  },
};
