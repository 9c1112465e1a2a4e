import type { Db, Migration } from '../database/contract.ts';

/** The table of required packages, and of packages with an admin's decision; one row for each name. */
export const EXTENSION_REQUIREMENTS_TABLE = 'platform_extension_requirements';

/** `decision` is an admin's, `declared` the manifest's; `filters` is null if the package's filters are not known. */
export function extensionRequirementsMigration(db: Db): Migration {
  const requirements = db.own(EXTENSION_REQUIREMENTS_TABLE);
  return {
    id: '2026-11-22-extension-requirements',
    up: () =>
      db.ddl(db.sql`create table if not exists ${requirements} (
      name text primary key,
      place uuid not null,
      decision boolean,
      declared boolean not null,
      filters text[]
    )`),
  };
}
