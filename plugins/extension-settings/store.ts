import type { Db } from '../database/contract.ts';
import { asUnavailable } from '../database/library.ts';
import { SETTINGS } from './collections.ts';

/** Where a value belongs. */
export interface Place {
  readonly extension: string;
  readonly scope: string;
  readonly scope_key: string;
  readonly key: string;
}

export interface StoredSetting extends Place {
  /** JSON text, or an envelope. */
  readonly value: string;
}

export interface Narrow {
  readonly scope?: string;
  readonly scopeKeys?: readonly string[];
}

export interface Store {
  /** Values of a package, narrowed by whatever is given, in a fixed order. */
  list(extension: string, narrow?: Narrow): Promise<readonly StoredSetting[]>;
  find(place: Place): Promise<string | undefined>;
  put(setting: StoredSetting): Promise<void>;
  /** Answers how many there were. */
  remove(which: Pick<Place, 'extension'> | Place): Promise<number>;
  removeCollections(names: readonly string[]): Promise<void>;
}

const PLACE = ['extension', 'scope', 'scope_key', 'key'] as const;

/** PostgreSQL has no text with a NUL in it, so nothing is stored under one. */
const isNowhere = (which: object): boolean => Object.values(which).some((part) => String(part).includes('\0'));

export function createStore(db: Pick<Db, 'table'>): Store {
  const table = () => db.table(SETTINGS);
  const select = (which: Partial<Place>, scopeKeys?: readonly string[]) => {
    const rows = table()
      .select(...PLACE, 'value')
      .where(which)
      .orderBy(['scope', 'scope_key', 'key']);
    return settled<StoredSetting[]>(scopeKeys ? rows.whereIn('scope_key', [...scopeKeys]) : rows);
  };
  return {
    async list(extension, { scope, scopeKeys } = {}) {
      const which = { extension, ...(scope === undefined ? {} : { scope }) };
      return isNowhere(which) || isNowhere(scopeKeys ?? []) ? [] : select(which, scopeKeys);
    },
    find: async (place) => (isNowhere(place) ? undefined : (await select(place))[0]?.value),
    async put({ value, ...place }) {
      const row = table().insert({ ...place, value });
      await settled(row.onConflict([...PLACE]).merge(['value']));
    },
    remove: async (which) => (isNowhere(which) ? 0 : settled<number>(table().where(which).delete())),
    async removeCollections(names) {
      const rows = table().where({ scope: 'collection' });
      await settled(rows.whereIn('scope_key', [...names]).delete());
    },
  };
}

async function settled<T>(statement: PromiseLike<unknown>): Promise<T> {
  try {
    return (await statement) as T;
  } catch (error) {
    throw asUnavailable(error);
  }
}
