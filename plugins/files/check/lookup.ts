import type { Db } from '../../database/contract.ts';
import { stemOf } from '../disk-names.ts';

/** What the database says of some objects of one location. */
export interface Known {
  /** Bytes by name, as the row has them; null where it does not say. */
  readonly files: ReadonlyMap<string, number | null>;
  readonly loose: ReadonlySet<string>;
  /** Stems of objects of rows or of the ledger: what is made of them may be there. */
  readonly stems: ReadonlySet<string>;
}

interface Row {
  readonly name: string;
  readonly size: string | null;
  readonly loose: boolean;
}

/** In one statement: between two, an object could go from the ledger to its row, and be in neither. */
export async function lookUp(db: Db, location: string, names: readonly string[]): Promise<Known> {
  const ids = [...new Set(names.flatMap((name) => stemOf(name)?.slice(0, 36) ?? []))];
  const { rows } = await db.query<Row>(
    db.sql`select filename_disk as name, filesize::text as size, false as loose from ${db.read('platform_files')}
      where storage = $1 and filename_disk is not null and (filename_disk = any($2::text[]) or id = any($3::uuid[]))
    union all
    select name, null, true from ${db.read('platform_loose_objects')}
      where storage = $1 and (name = any($2::text[]) or left(name, 36) = any($3::text[]))`,
    [location, names, ids],
  );
  return {
    files: new Map(
      rows.flatMap(({ name, size, loose }) => (loose ? [] : [[name, size === null ? null : Number(size)]])),
    ),
    loose: new Set(rows.flatMap(({ name, loose }) => (loose ? [name] : []))),
    stems: new Set(rows.flatMap(({ name }) => stemOf(name) ?? [])),
  };
}
