import type { Caller } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { Db } from '../../database/contract.ts';
import { isUuid } from '../../database/library.ts';
import type { QueryEngine } from '../../query/contract.ts';
import type { Collection, SchemaOverview } from '../../schema/contract.ts';

export interface StoredFileRow {
  readonly id: string;
  readonly storage: string;
  readonly filename_disk: string | null;
  readonly filename_download: string;
  readonly type: string | null;
}

export interface WritableFileQueryDeps {
  readonly db: Db;
  readonly access: Pick<AccessControl, 'restrictWrite'>;
  readonly query: Pick<QueryEngine, 'compileCondition'>;
}

interface WriteContext {
  readonly collection: Collection;
  readonly schemaSnapshot: SchemaOverview;
  readonly caller: Caller;
}

/**
 * The files of which the caller may update these fields. `lock` locks their rows until the unit of work ends.
 * @throws FORBIDDEN if the caller can update no file at all.
 */
export async function updatableFiles(
  { db, access, query }: WritableFileQueryDeps,
  { collection, schemaSnapshot, caller }: WriteContext,
  keys: readonly unknown[],
  fields: readonly string[],
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<readonly StoredFileRow[]> {
  const where = await access.restrictWrite(collection, 'update', fields, caller, schemaSnapshot);
  const condition = query.compileCondition(where, caller, schemaSnapshot, 2);
  const { rows } = await db.query<StoredFileRow>(
    db.sql`select t.id, t.storage, t.filename_disk, t.filename_download, t.type from ${db.read('platform_files')} t
    where t.id = any($1::uuid[]) and (${condition.where})${lock ? db.sql` order by t.id for no key update of t` : db.sql``}`,
    [uuidsIn(keys), ...condition.params],
  );
  return rows;
}

/**
 * The files that the caller may delete. Until the unit of work ends, no transaction can change them or add a reference to them.
 * @throws FORBIDDEN if the caller can delete no file at all.
 */
export async function lockDeletableFiles(
  { db, access, query }: WritableFileQueryDeps,
  { collection, schemaSnapshot, caller }: WriteContext,
  keys: readonly unknown[],
): Promise<readonly Pick<StoredFileRow, 'id'>[]> {
  const where = await access.restrictWrite(collection, 'delete', [], caller, schemaSnapshot);
  const condition = query.compileCondition(where, caller, schemaSnapshot, 2);
  const { rows } = await db.query<StoredFileRow>(
    db.sql`select t.id from ${db.read('platform_files')} t
    where t.id = any($1::uuid[]) and (${condition.where}) order by t.id for update of t`,
    [uuidsIn(keys), ...condition.params],
  );
  return rows;
}

const uuidsIn = (keys: readonly unknown[]): readonly unknown[] =>
  keys.filter((key) => typeof key === 'string' && isUuid(key));
