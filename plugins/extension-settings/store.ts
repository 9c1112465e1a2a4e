import type { Db } from '../database/contract.ts';
import { toUnavailableOnDatabaseOutage } from '../database/library.ts';
import { EXTENSION_SETTINGS_TABLE } from './collections.ts';

/** The columns that identify the stored value of a setting. */
export interface SettingRowIdentity {
  readonly extension: string;
  readonly scope: string;
  readonly scope_key: string;
  readonly key: string;
}

export interface StoredSetting extends SettingRowIdentity {
  /** JSON text, or the envelope of a sealed secret. */
  readonly value: string;
}

export interface SettingFilter {
  readonly scope?: string;
  readonly scopeKeys?: readonly string[];
}

export interface SettingStore {
  /** Values of a package that match the filter, ordered by scope, scope key and key. */
  list(extension: string, filter?: SettingFilter): Promise<readonly StoredSetting[]>;
  /** Values of all packages, ordered by package, scope, scope key and key. */
  listAll(): Promise<readonly StoredSetting[]>;
  find(location: SettingRowIdentity): Promise<string | undefined>;
  put(setting: StoredSetting): Promise<void>;
  /** Answers the number of removed values. */
  remove(target: Pick<SettingRowIdentity, 'extension'> | SettingRowIdentity): Promise<number>;
  removeCollections(names: readonly string[]): Promise<void>;
}

const LOCATION_COLUMNS = ['extension', 'scope', 'scope_key', 'key'] as const;

/** PostgreSQL has no text with a NUL character, so no such location is stored. */
const hasNulCharacter = (target: object): boolean => Object.values(target).some((part) => String(part).includes('\0'));

export function createSettingStore(db: Pick<Db, 'table'>): SettingStore {
  const table = () => db.table(EXTENSION_SETTINGS_TABLE);
  const select = (target: Partial<SettingRowIdentity>, scopeKeys?: readonly string[]) => {
    const rows = table()
      .select(...LOCATION_COLUMNS, 'value')
      .where(target)
      .orderBy(['scope', 'scope_key', 'key']);
    return runStatement<StoredSetting[]>(scopeKeys ? rows.whereIn('scope_key', [...scopeKeys]) : rows);
  };
  return {
    async list(extension, { scope, scopeKeys } = {}) {
      const target = { extension, ...(scope === undefined ? {} : { scope }) };
      return hasNulCharacter(target) || hasNulCharacter(scopeKeys ?? []) ? [] : select(target, scopeKeys);
    },
    listAll: () =>
      runStatement<StoredSetting[]>(
        table()
          .select(...LOCATION_COLUMNS, 'value')
          .orderBy([...LOCATION_COLUMNS]),
      ),
    find: async (location) => (hasNulCharacter(location) ? undefined : (await select(location))[0]?.value),
    async put({ value, ...location }) {
      const row = table().insert({ ...location, value });
      await runStatement(row.onConflict([...LOCATION_COLUMNS]).merge(['value']));
    },
    remove: async (target) => (hasNulCharacter(target) ? 0 : runStatement<number>(table().where(target).delete())),
    async removeCollections(names) {
      const rows = table().where({ scope: 'collection' });
      await runStatement(rows.whereIn('scope_key', [...names]).delete());
    },
  };
}

async function runStatement<T>(statement: PromiseLike<unknown>): Promise<T> {
  try {
    return (await statement) as T;
  } catch (error) {
    throw toUnavailableOnDatabaseOutage(error);
  }
}
