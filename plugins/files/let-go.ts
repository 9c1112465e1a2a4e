import { notifySql } from '../cluster/contract.ts';
import { identifier, type Migration } from '../database/contract.ts';
import { table } from './tables.ts';

/** Says in every process that there are loose objects. */
export const LOOSE = 'files.loose';

/**
 * Whatever takes an object's name out of `platform_files` (the API, a cascade, SQL by hand) leaves the object loose, in the same
 * transaction, so that there is no moment at which it is nobody's and nobody knows.
 */
export const noteLetGo: Migration = {
  id: '2026-11-22-note-let-go',
  async up(db) {
    const schema = identifier(db.schemas[0] as string);
    const files = table(db, 'files');
    const loose = `insert into ${table(db, 'loose_objects')} (storage, name)`;
    await db.query(`create or replace function ${schema}.platform_files_let_go() returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          ${loose} select storage, filename_disk from ${files} where filename_disk is not null;
        else
          ${loose} values (old.storage, old.filename_disk);
        end if;
        ${notifySql(LOOSE)};
        return null;
      end $$`);
    for (const verb of ['delete', 'update', 'truncate']) {
      await db.query(`drop trigger if exists platform_files_let_go_${verb} on ${files}`);
    }
    const run = `execute function ${schema}.platform_files_let_go()`;
    await db.query(`create trigger platform_files_let_go_delete after delete on ${files}
      for each row when (old.filename_disk is not null) ${run}`);
    // Not by the columns that a statement names: other triggers may change more.
    await db.query(`create trigger platform_files_let_go_update after update on ${files} for each row
      when (old.filename_disk is not null and old.filename_disk is distinct from new.filename_disk) ${run}`);
    await db.query(
      `create trigger platform_files_let_go_truncate before truncate on ${files} for each statement ${run}`,
    );
  },
};
