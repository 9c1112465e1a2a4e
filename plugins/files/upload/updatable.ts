import type { Caller } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { Query } from '../../query/contract.ts';
import { isUuid } from '../../query/library.ts';
import type { Collection, Overview } from '../../schema/contract.ts';

export interface KnownFile {
  readonly id: string;
  readonly storage: string;
  readonly filename_disk: string | null;
  readonly filename_download: string;
  readonly type: string | null;
}

export interface WritableDeps {
  readonly db: Db;
  readonly access: Pick<Access, 'restrictWrite'>;
  readonly query: Pick<Query, 'condition'>;
}

interface Of {
  readonly collection: Collection;
  readonly overview: Overview;
  readonly caller: Caller;
}

/**
 * Those of the files of which the caller may update these fields; FORBIDDEN where there can be none. `hold` keeps them as they are
 * until the unit of work that asks ends.
 */
export async function updatableFiles(
  { db, access, query }: WritableDeps,
  { collection, overview, caller }: Of,
  keys: readonly unknown[],
  fields: readonly string[],
  { hold = false }: { readonly hold?: boolean } = {},
): Promise<readonly KnownFile[]> {
  const where = await access.restrictWrite(collection, 'update', fields, caller, overview);
  const condition = query.condition(where, caller, overview, 2);
  const { rows } = await db.query<KnownFile>(
    db.sql`select t.id, t.storage, t.filename_disk, t.filename_download, t.type from ${db.read('platform_files')} t
    where t.id = any($1::uuid[]) and (${condition.where})${hold ? db.sql` order by t.id for no key update of t` : db.sql``}`,
    [keysIn(keys), ...condition.params],
  );
  return rows;
}

/**
 * Those of the files that the caller may delete; FORBIDDEN where there can be none. Until the unit of work ends, no transaction can
 * change them or begin to refer to them.
 */
export async function deletableFiles(
  { db, access, query }: WritableDeps,
  { collection, overview, caller }: Of,
  keys: readonly unknown[],
): Promise<readonly Pick<KnownFile, 'id'>[]> {
  const where = await access.restrictWrite(collection, 'delete', [], caller, overview);
  const condition = query.condition(where, caller, overview, 2);
  const { rows } = await db.query<KnownFile>(
    db.sql`select t.id from ${db.read('platform_files')} t
    where t.id = any($1::uuid[]) and (${condition.where}) order by t.id for update of t`,
    [keysIn(keys), ...condition.params],
  );
  return rows;
}

const keysIn = (keys: readonly unknown[]): readonly unknown[] =>
  keys.filter((key) => typeof key === 'string' && isUuid(key));
