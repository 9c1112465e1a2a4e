import { createNotifyStatement } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';

/** Channel that notifies every process of new orphaned objects. */
export const ORPHANS_CHANNEL = 'files.orphans';

/**
 * Triggers that put an object into the ledger when a statement takes its name out of `platform_files`: the API, a cascade, SQL by
 * hand. They run in the same transaction, so that no object is ever without a row and without an entry.
 */
export function createOrphanTriggerMigration(db: Db): Migration {
  const files = db.own('platform_files');
  const insertOrphans = db.sql`insert into ${db.own('platform_orphaned_objects')} (storage, name)`;
  const triggerFunction = db.sql`${db.name(db.schemas[0] as string)}.platform_files_orphan()`;
  const former = db.sql`${db.name(db.schemas[0] as string)}.platform_files_let_go()`;
  return {
    id: '2026-11-23-orphan-triggers',
    replaces: ['2026-11-22-note-let-go'],
    async up() {
      // Triggers of earlier versions, which go with their function.
      await db.ddl(db.sql`drop function if exists ${former} cascade`);
      await db.ddl(db.sql`create or replace function ${triggerFunction} returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          ${insertOrphans} select storage, filename_disk from ${files} where filename_disk is not null;
        else
          ${insertOrphans} values (old.storage, old.filename_disk);
        end if;
        ${createNotifyStatement(db, ORPHANS_CHANNEL)};
        return null;
      end $$`);
      for (const verb of ['delete', 'update', 'truncate'])
        await db.ddl(db.sql`drop trigger if exists ${db.name(`platform_files_orphan_${verb}`)} on ${files}`);
      await db.ddl(db.sql`create trigger platform_files_orphan_delete after delete on ${files}
      for each row when (old.filename_disk is not null) execute function ${triggerFunction}`);
      // Not `update of filename_disk`: other triggers may change the column although the statement does not name it.
      await db.ddl(db.sql`create trigger platform_files_orphan_update after update on ${files} for each row
      when (old.filename_disk is not null and old.filename_disk is distinct from new.filename_disk) execute function ${triggerFunction}`);
      await db.ddl(db.sql`create trigger platform_files_orphan_truncate before truncate on ${files}
      for each statement execute function ${triggerFunction}`);
    },
  };
}
