import { notifyStatement } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';

/** Says in every process that there are loose objects. */
export const LOOSE = 'files.loose';

/**
 * Whatever takes an object's name out of `platform_files` (the API, a cascade, SQL by hand) leaves the object loose, in the same
 * transaction, so that there is no moment at which it is nobody's and nobody knows.
 */
export function noteLetGo(db: Db): Migration {
  const files = db.own('platform_files');
  const loose = db.sql`insert into ${db.own('platform_loose_objects')} (storage, name)`;
  const run = db.sql`${db.name(db.schemas[0] as string)}.platform_files_let_go()`;
  return {
    id: '2026-11-22-note-let-go',
    async up() {
      await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          ${loose} select storage, filename_disk from ${files} where filename_disk is not null;
        else
          ${loose} values (old.storage, old.filename_disk);
        end if;
        ${notifyStatement(db, LOOSE)};
        return null;
      end $$`);
      for (const verb of ['delete', 'update', 'truncate'])
        await db.ddl(db.sql`drop trigger if exists ${db.name(`platform_files_let_go_${verb}`)} on ${files}`);
      await db.ddl(db.sql`create trigger platform_files_let_go_delete after delete on ${files}
      for each row when (old.filename_disk is not null) execute function ${run}`);
      // Not by the columns that a statement names: other triggers may change more.
      await db.ddl(db.sql`create trigger platform_files_let_go_update after update on ${files} for each row
      when (old.filename_disk is not null and old.filename_disk is distinct from new.filename_disk) execute function ${run}`);
      await db.ddl(db.sql`create trigger platform_files_let_go_truncate before truncate on ${files}
      for each statement execute function ${run}`);
    },
  };
}
