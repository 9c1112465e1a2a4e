import { LRUCache } from 'lru-cache';
import { type Caller, fail } from '#kernel';
import type { PermissionSet } from '../../access/contract.ts';
import {
  isUnknownField,
  type Prepared,
  type RawQuery,
  type Read,
  type ReadText,
  unknownField,
} from '../../query/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import type { Items } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../names.ts';
import { castKey, findCollection, keyField, type Target } from '../target.ts';
import { singletonDefaults } from './singleton.ts';

/** A read as a route asks for it: the query is only parsed when no compiled statement is remembered for its text. */
export interface Asked {
  readonly query: () => RawQuery;
  /** The query as text, where the same text always means the same query. */
  readonly text?: string;
  readonly key?: unknown;
  readonly keys?: readonly unknown[];
  readonly unlimited?: boolean;
}

export type Reads = Pick<Items, 'readMany' | 'readOne' | 'readKeys' | 'rows' | 'checkQuery'> & {
  read(caller: Caller, collection: string, asked: Asked): Promise<ReadText>;
};

const MAX_REMEMBERED_TEXT = 2000;
/** Characters of all statements kept; the trees they came from weigh several times as much. */
const MAX_REMEMBERED_STATEMENTS = 8_000_000;

export function createReads(deps: Deps): Reads {
  const { schema, access, query, events } = deps;
  /** Compiled statements by everything they depend on: text, schema version, permission set. Never by user or key. */
  const plans = new LRUCache<string, { prepared: Prepared; read: Read }>({
    max: 2000,
    // Short queries can make long statements (`*.*.*`), so what is kept is bounded by its size as well.
    maxSize: MAX_REMEMBERED_STATEMENTS,
    sizeCalculation: ({ prepared }, key) => key.length + prepared.text.length,
  });

  async function plan(caller: Caller, set: PermissionSet, { overview, collection }: Target, asked: Asked) {
    const remembered =
      asked.text !== undefined && asked.text.length <= MAX_REMEMBERED_TEXT && !asked.keys
        ? `${overview.version}\n${set.version}\n${set.key}\n${collection.name}\n${asked.key === undefined ? '' : 'key'}\n${asked.text}`
        : undefined;
    const listened = eventNames(collection, 'query').some((name) => events.has('filter', name));
    const known = remembered !== undefined && !listened ? plans.get(remembered) : undefined;
    if (known) {
      // It came a second time, so it will come again.
      known.prepared = query.keep(known.prepared);
      return known;
    }
    const asks = await events.filter(eventNames(collection, 'query'), asked.query(), {
      caller,
      collection: collection.name,
    });
    let unknown = false;
    // Counts belong to lists.
    const parsed = query.parse(collection, asked.key === undefined ? asks : { ...asks, meta: undefined }, {
      overview,
      visible: access.visible(set),
      onUnknown: () => {
        unknown = true;
      },
      unlimited: asked.unlimited ?? false,
      single: asked.key !== undefined || collection.singleton,
      ...(asked.keys ? { keys: asked.keys.map((key) => castKey(keyField(collection), key)) } : {}),
    });
    // A name that is left out may be that of a column made a moment ago.
    if (unknown && (await schema.refresh()).version !== overview.version)
      throw unknownField('in fields', collection.name);
    const read = await access.restrict(asked.key === undefined ? parsed : onlyKey(parsed), caller, overview);
    const made = { prepared: query.prepare(read, overview), read };
    if (remembered !== undefined && !listened) plans.set(remembered, made);
    return made;
  }

  const isHeard = (collection: Collection): boolean =>
    eventNames(collection, 'read').some((name) => events.has('filter', name) || events.has('action', name));

  async function once(caller: Caller, set: PermissionSet, target: Target, asked: Asked): Promise<ReadText> {
    const { collection } = target;
    const { prepared, read } = await plan(caller, set, target, asked);
    const key = asked.key === undefined ? null : castKey(keyField(collection), asked.key);
    const text = await query.run(prepared, { user: caller.user, role: caller.role, key });
    if (text.data === null) {
      if (asked.key === undefined && collection.singleton) return { ...text, data: singletonDefaults(read) };
      throw fail('FORBIDDEN', `${collection.name} has no readable row ${String(asked.key)}`);
    }
    return isHeard(collection) ? throughHooks(deps, caller, target, asked, text) : text;
  }

  async function read(caller: Caller, name: string, asked: Asked): Promise<ReadText> {
    const set = await access.permissions(caller);
    // Before anything is said about the collection or the query, and before the database is asked about unknown names.
    if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
    const target = await findCollection(schema, name);
    try {
      return await once(caller, set, target, asked);
    } catch (error) {
      // The tables may have changed under a statement; what is then still wrong is wrong.
      if (!(isOutdated(error) || isUnknownField(error))) throw error;
      const overview = await schema.refresh();
      if (overview.version === target.overview.version) throw error;
      return once(caller, set, await findCollection(schema, name), asked);
    }
  }

  return {
    read,
    readMany: (caller, collection, raw) => read(caller, collection, { query: () => raw }),
    readOne: (caller, collection, key, raw = {}) => read(caller, collection, { query: () => raw, key }),
    readKeys: (caller, collection, keys, raw = {}) => read(caller, collection, { query: () => raw, keys }),
    async checkQuery(caller, name, raw) {
      const { overview, collection } = await findCollection(schema, name);
      query.parse(collection, raw, { overview, visible: access.visible(await access.permissions(caller)) });
    },
    async rows<Row>(caller: Caller, collection: string, raw: RawQuery) {
      const { data } = await read(caller, collection, { query: () => raw, unlimited: true });
      const parsed = JSON.parse(data ?? '[]');
      return (Array.isArray(parsed) ? parsed : [parsed]) as Row[];
    },
  };
}

/** The row whose key is filled in when the statement runs, beside whatever filter the query has. */
function onlyKey(read: Read): Read {
  const key = keyField(read.collection);
  const test = { kind: 'test', use: { field: key }, operator: '_eq', values: [{ dynamic: 'key' }] } as const;
  return { ...read, where: { kind: 'all', of: [test, read.where] }, order: [] };
}

/** Undefined table, column or function, or a type that is no longer what it was. */
const isOutdated = (error: unknown): boolean =>
  ['42P01', '42703', '42883', '42804'].includes((error as { code?: string } | null)?.code ?? '');

/** Listeners on reads need rows: a collection somebody listens to gives up the untouched text, and only that one. */
async function throughHooks(
  deps: Deps,
  caller: Caller,
  { collection }: Target,
  asked: Asked,
  text: ReadText,
): Promise<ReadText> {
  const names = eventNames(collection, 'read');
  const filtered = names.some((name) => deps.events.has('filter', name));
  const parsed = JSON.parse(text.data as string);
  const list = Array.isArray(parsed);
  const meta = { caller, collection: collection.name, query: asked.query() };
  const rows = await deps.events.filter(names, list ? parsed : [parsed], meta);
  deps.events.action(names, { ...meta, payload: rows });
  return filtered ? { ...text, data: JSON.stringify(list ? rows : rows[0]) } : text;
}
