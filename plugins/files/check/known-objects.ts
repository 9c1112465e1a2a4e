import type { Db } from '../../database/contract.ts';
import { parseObjectNameStem } from '../object-names.ts';

/** What the database knows about some objects of one location. */
export interface ObjectsKnownToDatabase {
  /** Sizes in bytes of the objects that rows name, by object name; null if the row has no size. */
  readonly files: ReadonlyMap<string, number | null>;
  readonly orphans: ReadonlySet<string>;
  /** Stems of objects of rows or of the ledger: they may have variants. */
  readonly stems: ReadonlySet<string>;
}

interface LookupRow {
  readonly name: string;
  readonly size: string | null;
  readonly isOrphan: boolean;
}

/** Looks up objects in one statement: between two, an object could move from the ledger to its row and be in neither result. */
export async function lookUpObjectsInDatabase(
  db: Db,
  location: string,
  names: readonly string[],
): Promise<ObjectsKnownToDatabase> {
  const ids = [...new Set(names.flatMap((name) => parseObjectNameStem(name)?.slice(0, 36) ?? []))];
  const { rows } = await db.query<LookupRow>(
    db.sql`select filename_disk as name, filesize::text as size, false as "isOrphan" from ${db.read('platform_files')}
      where storage = $1 and filename_disk is not null and (filename_disk = any($2::text[]) or id = any($3::uuid[]))
    union all
    select name, null, true from ${db.read('platform_orphaned_objects')}
      where storage = $1 and (name = any($2::text[]) or left(name, 36) = any($3::text[]))`,
    [location, names, ids],
  );
  return {
    files: new Map(
      rows.flatMap(({ name, size, isOrphan }) => (isOrphan ? [] : [[name, size === null ? null : Number(size)]])),
    ),
    orphans: new Set(rows.flatMap(({ name, isOrphan }) => (isOrphan ? [name] : []))),
    stems: new Set(rows.flatMap(({ name }) => parseObjectNameStem(name) ?? [])),
  };
}
