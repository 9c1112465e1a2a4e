import type { Db, Migration } from '../database/contract.ts';

/** PostgreSQL refuses to change the type of a column that an index, or a view, rule, trigger or generated column, depends on. */
const DEPENDENCY_ERROR_CODES: readonly unknown[] = ['42704', '0A000'];

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
        if (!DEPENDENCY_ERROR_CODES.includes((error as { code?: unknown }).code)) throw error;
        // An administrator may have made it; the message of PostgreSQL names it.
        throw Object.assign(error as Error, {
          remedy:
            'drop what depends on data or delta of platform_revisions, and make it anew with data::jsonb after the start',
        });
      }
    },
  };
}
