import { type Caller, Failure, fail } from '#kernel';
import type { Key, Payload } from '../../items/contract.ts';
import type { RawQuery, ReadResultText } from '../../query/contract.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import type { BaseServiceClass, ExtensionServiceOptions, ServiceMethodOptions } from './base-service.ts';

type Row = Record<string, unknown>;
type Keys = readonly unknown[];

/** A symbol, so that extensions do not see the member. */
const PRIMARY = Symbol('primary');

const parseData = <T>({ data }: ReadResultText): T => JSON.parse(data ?? 'null') as T;

/** The half of `ItemsService` that reads. */
function createReadingService(runtime: ExtensionRuntime, Acting: BaseServiceClass) {
  const { items, query, schema } = runtime.deps;
  /** Reads by code have the default limit if they name none, and no ceiling. */
  const withDefaultLimit = (raw: RawQuery): RawQuery => ({ ...raw, limit: raw.limit ?? query.ceilings.default });

  async function primaryOf(collection: string): Promise<string> {
    const find = (known: Awaited<ReturnType<typeof schema.snapshot>>) => known.collections.get(collection)?.primary;
    const primary = find(await schema.snapshot()) ?? find(await schema.refresh());
    if (!primary) throw fail('FORBIDDEN', `there is no collection ${collection} with a key`);
    return primary;
  }

  return class ReadingService extends Acting {
    readonly collection: string;

    constructor(collection: string, options?: ExtensionServiceOptions) {
      super(options);
      this.collection = collection;
    }

    readByQuery(raw: RawQuery = {}, options?: ServiceMethodOptions): Promise<Row[]> {
      return this.act((caller) => items.rows(caller, this.collection, withDefaultLimit(raw)), options);
    }

    /** @throws FORBIDDEN if there is no such row, or the caller may not read it. */
    readOne(key: unknown, raw: RawQuery = {}, options?: ServiceMethodOptions): Promise<Row> {
      return this.act(
        async (caller) => parseData<Row>(await items.readOne(caller, this.collection, key, raw)),
        options,
      );
    }

    readMany(keys: Keys, raw: RawQuery = {}, options?: ServiceMethodOptions): Promise<Row[]> {
      return this.act(
        async (caller) => parseData<Row[]>(await items.readKeys(caller, this.collection, keys, raw)),
        options,
      );
    }

    readSingleton(raw: RawQuery = {}, options?: ServiceMethodOptions): Promise<Row> {
      return this.act(async (caller) => {
        const row = parseData<Row | Row[]>(await items.readMany(caller, this.collection, raw));
        return (Array.isArray(row) ? row[0] : row) ?? {};
      }, options);
    }

    async getKeysByQuery(raw: RawQuery): Promise<Key[]> {
      const primary = await this[PRIMARY]();
      const rows = await this.readByQuery({ ...raw, fields: [primary] });
      return rows.map((row) => row[primary] as Key);
    }

    /** The name of the collection's primary key. */
    [PRIMARY](): Promise<string> {
      return primaryOf(this.collection);
    }
  };
}

/** `ItemsService`: the verbs of the items engine under the names of the conventions, with rows instead of JSON text. */
export function createItemsServiceClass(runtime: ExtensionRuntime, Acting: BaseServiceClass) {
  const { items } = runtime.deps;

  return class ItemsService extends createReadingService(runtime, Acting) {
    createOne(data: Payload, options?: ServiceMethodOptions): Promise<Key> {
      return this.act((caller) => items.createOne(caller, this.collection, data), options);
    }

    createMany(data: readonly Payload[], options?: ServiceMethodOptions): Promise<Key[]> {
      return this.act((caller) => items.createMany(caller, this.collection, data), options);
    }

    updateOne(key: unknown, data: Payload, options?: ServiceMethodOptions): Promise<Key> {
      return this.act((caller) => items.updateOne(caller, this.collection, key, data), options);
    }

    updateMany(keys: Keys, data: Payload, options?: ServiceMethodOptions): Promise<Key[]> {
      return this.act((caller) => items.updateMany(caller, this.collection, keys, data), options);
    }

    /** Changes each row by the key that it contains. */
    updateBatch(data: readonly Payload[], options?: ServiceMethodOptions): Promise<Key[]> {
      return this.act((caller) => items.updateEach(caller, this.collection, data), options);
    }

    updateByQuery(raw: RawQuery, data: Payload, options?: ServiceMethodOptions): Promise<Key[]> {
      return this.act((caller) => items.updateByQuery(caller, this.collection, raw, data), options);
    }

    /** Changes the row whose key the payload contains, or creates it. */
    async upsertOne(data: Payload, options?: ServiceMethodOptions): Promise<Key> {
      const [key] = await this.upsertMany([data], options);
      return key as Key;
    }

    async upsertMany(data: readonly Payload[], options?: ServiceMethodOptions): Promise<Key[]> {
      const primary = await this[PRIMARY]();
      return this.act(
        (caller) =>
          runtime.db.transaction(async () => {
            const keys: Key[] = [];
            for (const one of data) keys.push(await this.#upsert(caller, primary, one));
            return keys;
          }),
        options,
      );
    }

    async #upsert(caller: Caller, primary: string, { [primary]: key, ...rest }: Payload): Promise<Key> {
      const { collection } = this;
      if (key !== undefined && key !== null && (await exists(runtime, collection, primary, key)))
        return items.updateOne(caller, collection, key, rest);
      return items.createOne(caller, collection, key === undefined ? rest : { [primary]: key, ...rest });
    }

    upsertSingleton(data: Payload, options?: ServiceMethodOptions): Promise<Key> {
      return this.act((caller) => items.upsertSingleton(caller, this.collection, data), options);
    }

    async deleteOne(key: unknown, options?: ServiceMethodOptions): Promise<Key> {
      await this.deleteMany([key], options);
      return key as Key;
    }

    deleteMany(keys: Keys, options?: ServiceMethodOptions): Promise<Key[]> {
      return this.act((caller) => items.deleteMany(caller, this.collection, keys), options);
    }

    deleteByQuery(raw: RawQuery, options?: ServiceMethodOptions): Promise<Key[]> {
      return this.act((caller) => items.deleteByQuery(caller, this.collection, raw), options);
    }
  };
}

/** Whether a row exists, for the system; the write checks whether the caller may change it. */
async function exists(runtime: ExtensionRuntime, collection: string, primary: string, key: unknown): Promise<boolean> {
  const system = runtime.asSystem('an upsert checks whether its row exists');
  try {
    const found = await runtime.events.withoutExtensionListeners(() =>
      runtime.deps.items.readKeys(system, collection, [key], { fields: [primary] }),
    );
    return parseData<unknown[]>(found).length > 0;
  } catch (error) {
    // A key of the wrong kind names no row.
    if (error instanceof Failure && error.code === 'FORBIDDEN') return false;
    throw error;
  }
}

export type ItemsServiceClass = ReturnType<typeof createItemsServiceClass>;
