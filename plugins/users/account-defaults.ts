import type { Db, Migration } from '../database/contract.ts';

/** Fields of a new user, by the setting that they are taken from, and its value where no settings are stored. */
const DEFAULTS = [
  ['language', 'default_language', 'en-US'],
  ['appearance', 'default_appearance', 'auto'],
  ['theme_light', 'default_theme_light', null],
  ['theme_dark', 'default_theme_dark', null],
] as const;

/**
 * Makes the settings the defaults of new accounts (specification, "Settings record"). They are defaults of the columns, because
 * accounts are made in many ways: a filter of events would add fields to the payload that its caller may have no permission
 * for, and would miss accounts that are made by SQL. A field that the writer sets stays as it is, null included.
 */
export function createAccountDefaultsMigration(db: Db): Migration {
  const users = db.own('platform_users');
  const settings = db.read('platform_settings');
  const schema = db.name(db.schemas[0] as string);
  return {
    id: '2026-11-26-account-defaults',
    async up() {
      // A setting that is no column would make every new account fail, instead of the start.
      await db.query(
        db.sql`select default_language, default_appearance, default_theme_light, default_theme_dark from ${settings} limit 0`,
      );
      for (const [field, setting, fallback] of DEFAULTS) {
        const name = db.sql`${schema}.${db.name(`platform_new_user_${field}`)}()`;
        const value = fallback === null ? db.sql`null` : db.literal(fallback);
        // With the rights of its owner: another program that writes users may have no right to read the settings.
        await db.ddl(db.sql`create or replace function ${name} returns text language sql stable
          security definer set search_path = pg_catalog, pg_temp as $$
          select coalesce((select s.${db.name(setting)} from ${settings} s limit 1), ${value}) $$`);
        await db.ddl(db.sql`alter table ${users} alter column ${db.name(field)} set default ${name}`);
      }
    },
  };
}
