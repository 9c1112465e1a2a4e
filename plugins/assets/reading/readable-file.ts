import { type Caller, fail } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import { isUuid } from '../../database/library.ts';
import type { QueryEngine, TrustedSqlCondition } from '../../query/contract.ts';
import { isUnknownFieldFailure } from '../../query/library.ts';
import type { SchemaOverview, SchemaService } from '../../schema/contract.ts';
import { PUBLIC_FILE_SETTINGS, type SettingsService, type SettingsValues } from '../../settings/contract.ts';
import type { FileRecord } from '../variant.ts';
import type { FileRecordInFolder, FileRecordReader } from './file-record-cache.ts';

export interface FindReadableFileDeps {
  readonly access: Pick<AccessControl, 'assertAllowed' | 'permissions' | 'restrictFilter'>;
  readonly query: Pick<QueryEngine, 'compileCondition'>;
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
  readonly settings: SettingsService;
  readonly records: FileRecordReader;
}

/**
 * Finds the record of a file whose bytes the caller may read.
 * @throws FORBIDDEN in every other case, always the same, so that callers cannot learn which files exist.
 */
export interface FindReadableFile {
  (caller: Caller, id: string): Promise<FileRecord>;
  /** Reads the record again after its object was missing: undefined if the record still names the same object. */
  findReplacement(caller: Caller, before: FileRecord): Promise<FileRecord | undefined>;
}

/** Finds the records of several files with bytes that the caller may read. */
export interface FindReadableFiles {
  /** The records of all these files, in this order. @throws FORBIDDEN where one of them may not be read */
  many(caller: Caller, ids: readonly string[]): Promise<readonly FileRecord[]>;
  /** The records of readable files in these folders, `limit` of them at most. @throws FORBIDDEN without any permission */
  inFolders(caller: Caller, folders: readonly string[], limit: number): Promise<readonly FileRecordInFolder[]>;
}

const FILES = 'platform_files';

export function createFindReadableFile({
  access,
  query,
  schema,
  settings,
  records,
}: FindReadableFileDeps): FindReadableFile & FindReadableFiles {
  async function findRecord(caller: Caller, id: string): Promise<FileRecord | undefined> {
    const permissions = await access.permissions(caller);
    // A caller who may read any field of a file may read its bytes.
    const rules = permissions.of(FILES, 'read').filter(({ fields }) => fields.length > 0);
    if (permissions.admin || rules.some(({ rule }) => rule === null)) return records.get(id);
    if (isPublic(await settings.current(), id)) return records.get(id);
    return rules.length === 0 ? undefined : records.findAllowed(id, await createCondition(caller));
  }

  async function createCondition(caller: Caller): Promise<TrustedSqlCondition> {
    const schemaSnapshot = await schema.snapshot();
    try {
      return await compileCondition(schemaSnapshot, caller);
    } catch (error) {
      // The rule may use a field that was created a moment ago.
      if (!isUnknownFieldFailure(error)) throw error;
      return compileCondition(await schema.refresh(), caller);
    }
  }

  async function compileCondition(schemaSnapshot: SchemaOverview, caller: Caller): Promise<TrustedSqlCondition> {
    const collection = schemaSnapshot.collections.get(FILES);
    if (!collection) throw fail('FORBIDDEN', 'there are no files');
    const allowed = await access.restrictFilter(collection, { kind: 'and', of: [] }, caller, schemaSnapshot);
    return query.compileCondition(allowed, caller, schemaSnapshot, 2);
  }

  async function findReadable(caller: Caller, raw: string): Promise<FileRecord> {
    const id = raw.toLowerCase();
    const record = isUuid(id) ? await findRecord(caller, id) : undefined;
    if (!record) throw createUnreadableFailure();
    return record;
  }

  return Object.assign(findReadable, {
    async many(caller: Caller, ids: readonly string[]) {
      await access.assertAllowed(caller, 'read', FILES);
      const found = await records.findManyAllowed(ids, await createCondition(caller));
      const byId = new Map(found.map((record) => [record.id, record]));
      return ids.map((id) => {
        const record = byId.get(id);
        if (!record) throw createUnreadableFailure();
        return record;
      });
    },
    async inFolders(caller: Caller, folders: readonly string[], limit: number) {
      await access.assertAllowed(caller, 'read', FILES);
      return records.findInFolders(folders, await createCondition(caller), limit);
    },
    async findReplacement(caller: Caller, before: FileRecord) {
      records.forgetOne(before.id);
      const record = await findReadable(caller, before.id);
      return record.filename_disk === before.filename_disk && record.storage === before.storage ? undefined : record;
    },
  });
}

const createUnreadableFailure = () => fail('FORBIDDEN', 'there is no such file, or it may not be read');

const isPublic = (values: SettingsValues, id: string): boolean =>
  PUBLIC_FILE_SETTINGS.some((name) => values[name] === id);
