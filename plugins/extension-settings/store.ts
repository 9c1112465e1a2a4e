import type { Db } from '../database/contract.ts';
import { asUnavailable } from '../database/library.ts';
import { SETTINGS_TABLE } from './collections.ts';

/** Where a value belongs. */
export interface SettingLocation {
  readonly extension: string;
  readonly scope: string;
  readonly scope_key: string;
  readonly key: string;
}

export interface StoredSetting extends SettingLocation {
  /** JSON text, or an envelope. */
  readonly value: string;
}

export interface SettingFilter {
  readonly scope?: string;
  readonly scopeKeys?: readonly string[];
}

export interface SettingStore {
  /** Values of a package, narrowed by whatever is given, in a fixed order. */
  list(extension: string, narrow?: SettingFilter): Promise<readonly StoredSetting[]>;
  find(place: SettingLocation): Promise<string | undefined>;
  put(setting: StoredSetting): Promise<void>;
  /** Answers how many there were. */
  remove(which: Pick<SettingLocation, 'extension'> | SettingLocation): Promise<number>;
  removeCollections(names: readonly string[]): Promise<void>;
}

const LOCATION_COLUMNS = ['extension', 'scope', 'scope_key', 'key'] as const;

/** PostgreSQL has no text with a NUL in it, so nothing is stored under one. */
const hasNulCharacter = (which: object): boolean => Object.values(which).some((part) => String(part).includes('\0'));

export function createSettingStore(db: Pick<Db, 'table'>): SettingStore {
  const table = () => db.table(SETTINGS_TABLE);
  const select = (which: Partial<SettingLocation>, scopeKeys?: readonly string[]) => {
    const rows = table()
      .select(...LOCATION_COLUMNS, 'value')
      .where(which)
      .orderBy(['scope', 'scope_key', 'key']);
    return runStatement<StoredSetting[]>(scopeKeys ? rows.whereIn('scope_key', [...scopeKeys]) : rows);
  };
  return {
    async list(extension, { scope, scopeKeys } = {}) {
      const which = { extension, ...(scope === undefined ? {} : { scope }) };
      return hasNulCharacter(which) || hasNulCharacter(scopeKeys ?? []) ? [] : select(which, scopeKeys);
    },
    find: async (place) => (hasNulCharacter(place) ? undefined : (await select(place))[0]?.value),
    async put({ value, ...place }) {
      const row = table().insert({ ...place, value });
      await runStatement(row.onConflict([...LOCATION_COLUMNS]).merge(['value']));
    },
    remove: async (which) => (hasNulCharacter(which) ? 0 : runStatement<number>(table().where(which).delete())),
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
    throw asUnavailable(error);
  }
}
