import type { Db, Migration } from '../database/contract.ts';

/**
 * Earlier versions kept identifiers unique over all providers, so that of two providers that number their users one refused users of the
 * other. The index over provider and identifier stands in the declaration of the collection.
 */
export function createIdentifiersByProviderMigration(db: Db): Migration {
  const index = db.sql`${db.name(db.schemas[0] as string)}.${db.name('platform_users_external_identifier_unique')}`;
  return {
    id: '2026-11-27-identifiers-by-provider',
    up: () => db.ddl(db.sql`drop index if exists ${index}`),
  };
}
