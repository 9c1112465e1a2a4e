import type { Db, Migration } from '../database/contract.ts';

/**
 * Revisions hold JSON as text (ADR 43): a write stores the text that it answers, and PostgreSQL need not build a `jsonb` of it. The
 * declaration of the collection creates the columns as `jsonb`, as every field of the type `json`.
 */
export function createRevisionJsonMigration(db: Db): Migration {
  const revisions = db.own('platform_revisions');
  return {
    id: '2026-11-24-revisions-as-json',
    async up() {
      try {
        await db.ddl(db.sql`alter table ${revisions} alter column data type json using data::json,
          alter column delta type json using delta::json`);
      } catch (error) {
        // An administrator may have made an index, a view or a trigger of these columns, which the message of PostgreSQL names.
        throw Object.assign(error as Error, {
          remedy:
            'drop what depends on data or delta of platform_revisions, and make it anew with data::jsonb after the start',
        });
      }
    },
  };
}
