import type { Db, Migration } from '../database/contract.ts';

/**
 * The table of what each package was last allowed, with one row for each name. Only `/extensions/consent` reads and writes it.
 */
export const EXTENSION_GRANTS_TABLE = 'platform_extension_grants';

export function extensionGrantsMigration(db: Db): Migration {
  const grants = db.own(EXTENSION_GRANTS_TABLE);
  return {
    id: '2026-11-21-extension-grants',
    up: () =>
      db.ddl(db.sql`create table if not exists ${grants} (
      name text primary key,
      version text not null,
      asked json not null,
      agreed_by uuid,
      agreed_on timestamptz not null default now()
    )`),
  };
}

/** Adds the column with the location ids of each package. */
export function extensionGrantLocationsMigration(db: Db): Migration {
  const grants = db.own(EXTENSION_GRANTS_TABLE);
  return {
    id: '2026-11-21-extension-grant-places',
    up: () => db.ddl(db.sql`alter table ${grants} add column if not exists places uuid[] not null default '{}'`),
  };
}
