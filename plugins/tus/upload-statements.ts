import type { Db } from '../database/contract.ts';

/** SQL statements about uploads, their pieces and the files created from them. */
export function uploadStatements(db: Pick<Db, 'read' | 'write' | 'sql'>) {
  const uploads = db.write('platform_uploads');
  const pieces = db.write('platform_upload_pieces');
  const files = db.read('platform_files');
  return {
    ADD: db.sql`insert into ${uploads} (id, "user", storage, metadata, size, replaces, expires)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    FIND: db.sql`select id, "user", storage, metadata, size, received, replaces, completed, expires
      from ${uploads} where id = $1`,
    DECLARE_SIZE: db.sql`update ${uploads} set size = $2 where id = $1 and size is null and received <= $2`,
    BEGIN: db.sql`insert into ${pieces} (name, upload, start) values ($1, $2, $3)`,
    // Counts a stored piece. One statement that updates the upload first: if its length has changed since the piece began
    // (another process got the lock), nothing changes.
    KEEP: db.sql`with moved as (
        update ${uploads} set received = $3::int8 + $4::int8, expires = $5
        where id = $1 and received = $3 and not completed
          and exists (select from ${pieces} where name = $2 and size is null)
        returning 1
      )
      update ${pieces} set size = $4 from moved where name = $2`,
    FORGET: db.sql`delete from ${pieces} where name = any($1::text[])`,
    PIECES: db.sql`select name, start, size from ${pieces} where upload = $1 order by start, size nulls first`,
    COMPLETE: db.sql`update ${uploads} set completed = true, expires = $2 where id = $1`,
    REMOVE: db.sql`delete from ${uploads} where id = $1`,
    EXPIRED: db.sql`select id from ${uploads} where expires < $1 order by expires`,
    IS_MADE: db.sql`select from ${files} where id = $1 and filename_disk is not null and filesize = $2
      and (uploaded_by is not distinct from $3 or uploaded_by is not distinct from $4)`,
  };
}
