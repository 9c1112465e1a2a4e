import { notifySql } from '../../cluster/contract.ts';
import { identifier, type Migration } from '../../database/contract.ts';

export const CHANGED = 'assets.files';

/** Tells every process when files change, whoever changes them. New ones need no word: nobody remembers what is not there. */
export const announceFiles: Migration = {
  id: '2026-11-22-announce-files',
  async up(db) {
    const schema = identifier(db.schemas[0] as string);
    const table = `${schema}.platform_files`;
    await db.query(`create or replace function ${schema}.platform_assets_changed() returns trigger language plpgsql as $$
      begin
        ${notifySql(CHANGED)};
        return null;
      end $$`);
    await db.query(`drop trigger if exists platform_assets_changed on ${table}`);
    await db.query(`create trigger platform_assets_changed after update or delete or truncate
      on ${table} for each statement execute function ${schema}.platform_assets_changed()`);
  },
};
