import { LRUCache } from 'lru-cache';
import { type Caller, fail } from '#kernel';
import type { PermissionSet } from '../../access/contract.ts';
import {
  isUnknownField,
  type Prepared,
  type RawQuery,
  type Read,
  type ReadText,
  type Restricted,
  type Stream,
  type Subjects,
  spelledOut,
  unknownField,
} from '../../query/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import type { Items } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../names.ts';
import { castKey, findCollection, keyField, type Target } from '../target.ts';
import { type Explained, explained } from './explain.ts';
import { type Download, downloadOf } from './export/download.ts';
import { isLong, isShort, wholeIfShort } from './long-read.ts';
import { singletonDefaults } from './singleton.ts';

/** A read as a route asks for it: the query is only parsed when no compiled statement is remembered for its text. */
export interface Asked {
  readonly query: () => RawQuery;
  /** The query as text, where the same text always means the same query. */
  readonly text?: string;
  readonly key?: unknown;
  readonly keys?: readonly unknown[];
  readonly unlimited?: boolean;
  /** Row by row where it may be long, or always: what one reads who can take it in parts. */
  readonly inParts?: 'long' | 'always';
}

export type Reads = Pick<
  Items,
  'readMany' | 'readOne' | 'readKeys' | 'stream' | 'export' | 'explain' | 'rows' | 'checkQuery'
> & {
  answer(caller: Caller, collection: string, asked: Asked): Promise<ReadText | Stream>;
};

interface Plan {
  prepared: Prepared;
  readonly read: Restricted<Read>;
  /**
   * For a read that may be long and was not: the same as one text, which costs half. Null once it was long after all, or
   * failed: from then on it goes through a cursor.
   */
  short?: Prepared | null;
}

/** What is done with a plan once it is there; done again where the tables turn out to have changed. */
type Use<T> = (caller: Caller, target: Target, asked: Asked, plan: Plan) => Promise<T>;

const MAX_REMEMBERED_TEXT = 2000;
/** Characters of all statements kept; the trees they came from weigh several times as much. */
const MAX_REMEMBERED_STATEMENTS = 8_000_000;

export function createReads(deps: Deps): Reads {
  const { schema, access, query, events } = deps;
  /** Compiled statements by everything they depend on: text, schema version, permission set. Never by user or key. */
  const plans = new LRUCache<string, Plan>({
    max: 2000,
    // Short queries can make long statements (`*.*.*`), so what is kept is bounded by its size as well.
    maxSize: MAX_REMEMBERED_STATEMENTS,
    sizeCalculation: ({ prepared }, key) => key.length + 2 * prepared.text.length,
  });

  async function plan(caller: Caller, set: PermissionSet, target: Target, asked: Asked): Promise<Plan> {
    const { overview, collection } = target;
    // Listeners want the rows, all of them.
    const inParts = asked.inParts !== undefined && !isHeard(collection) ? asked.inParts : '';
    const remembered =
      asked.text !== undefined && asked.text.length <= MAX_REMEMBERED_TEXT && !asked.keys
        ? `${overview.version}\n${set.version}\n${set.key}\n${collection.name}\n${asked.key === undefined ? inParts : 'key'}\n${asked.text}`
        : undefined;
    const listened = eventNames(collection, 'query').some((name) => events.has('filter', name));
    const known = remembered !== undefined && !listened ? plans.get(remembered) : undefined;
    if (known) {
      // It came a second time, so it will come again. Cursors are made anew each time.
      if (known.prepared.form === 'text') known.prepared = query.keep(known.prepared);
      return known;
    }
    const asks = listened
      ? await events.filter(eventNames(collection, 'query'), spelledOut(asked.query()), {
          caller,
          collection: collection.name,
        })
      : asked.query();
    let unknown = false;
    // Counts and groups belong to lists.
    const ofOne = { ...asks, meta: undefined, aggregate: undefined, groupBy: undefined };
    const parsed = query.parse(collection, asked.key === undefined ? asks : ofOne, {
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
    const inRows = inParts === 'always' ? !read.single && !read.aggregate : inParts === 'long' && isLong(read);
    const made: Plan = { prepared: query.prepare(read, overview, inRows ? 'rows' : 'text'), read };
    if (remembered !== undefined && !listened) plans.set(remembered, made);
    return made;
  }

  const isHeard = (collection: Collection): boolean =>
    eventNames(collection, 'read').some((name) => events.has('filter', name) || events.has('action', name));

  const subjectsOf = ({ user, role, owner }: Caller, key: string | number | null): Subjects => ({
    user,
    role,
    key,
    owner,
  });

  const run: Use<ReadText | Stream> = async (caller, target, asked, { prepared, read }) => {
    const { collection } = target;
    if (prepared.form === 'rows') return query.stream(prepared, subjectsOf(caller, null));
    const key = asked.key === undefined ? null : castKey(keyField(collection), asked.key);
    const text = await query.run(prepared, subjectsOf(caller, key));
    if (text.data === null) {
      if (asked.key === undefined && collection.singleton) return { ...text, data: singletonDefaults(read) };
      throw fail('FORBIDDEN', `${collection.name} has no readable row ${String(asked.key)}`);
    }
    return isHeard(collection) ? throughHooks(deps, caller, target, asked, text) : text;
  };

  async function use<T>(caller: Caller, name: string, asked: Asked, then: Use<T>): Promise<T> {
    const set = await access.permissions(caller);
    // Before anything is said about the collection or the query, and before the database is asked about unknown names.
    if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
    const target = await findCollection(schema, name);
    try {
      return await then(caller, target, asked, await plan(caller, set, target, asked));
    } catch (error) {
      // The tables may have changed under a statement; what is then still wrong is wrong.
      if (!(isOutdated(error) || isUnknownField(error))) throw error;
      const overview = await schema.refresh();
      if (overview.version === target.overview.version) throw error;
      const found = await findCollection(schema, name);
      return then(caller, found, asked, await plan(caller, set, found, asked));
    }
  }

  const runLong: Use<ReadText | Stream> = async (caller, target, asked, plan) => {
    if (plan.prepared.form === 'text') return run(caller, target, asked, plan);
    if (plan.short) {
      let stays = false;
      try {
        const text = await query.run(plan.short, subjectsOf(caller, null));
        stays = isShort(text);
        return text;
      } finally {
        if (!stays) plan.short = null;
      }
    }
    const found = await wholeIfShort((await run(caller, target, asked, plan)) as Stream);
    const isRemembered = asked.text !== undefined;
    if (!('batches' in found) && isRemembered && plan.short === undefined)
      plan.short = query.keep(query.prepare(plan.read, target.overview));
    return found;
  };

  const answer = (caller: Caller, name: string, asked: Asked): Promise<ReadText | Stream> =>
    use(caller, name, asked, runLong);

  const read = (caller: Caller, name: string, asked: Omit<Asked, 'inParts'>): Promise<ReadText> =>
    use(caller, name, asked, run) as Promise<ReadText>;

  return {
    answer,
    readMany: (caller, collection, raw) => read(caller, collection, asObject(raw)),
    readOne: (caller, collection, key, raw = {}) => read(caller, collection, { ...asObject(raw), key }),
    readKeys: (caller, collection, keys, raw = {}) => read(caller, collection, { query: () => raw, keys }),
    stream: (caller, collection, raw) => answer(caller, collection, { ...asObject(raw), inParts: 'long' }),
    export(caller, collection, format, raw, keys) {
      const asked: Asked = { query: () => raw, inParts: 'always', ...(keys ? { keys } : {}) };
      return use<Download>(caller, collection, asked, async (who, target, what, made) =>
        downloadOf(made.read, await run(who, target, what, made), format),
      );
    },
    explain(caller, collection, raw, key) {
      const asked: Asked = { query: () => raw, inParts: 'long', ...(key === undefined ? {} : { key }) };
      return use<Explained>(caller, collection, asked, async (who, _target, _what, { prepared }) =>
        explained(collection, prepared, await query.explain(prepared, subjectsOf(who, null))),
      );
    },
    async checkQuery(caller, name, raw) {
      const set = await access.permissions(caller);
      if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
      const { overview, collection } = await findCollection(schema, name);
      query.parse(collection, raw, { overview, visible: access.visible(set) });
    },
    async rows<Row>(caller: Caller, collection: string, raw: RawQuery) {
      const { data } = await read(caller, collection, { query: () => raw, unlimited: true });
      const parsed = JSON.parse(data ?? '[]');
      return (Array.isArray(parsed) ? parsed : [parsed]) as Row[];
    },
  };
}

/** A query that came as an object has a text as well. No query string has a line break, so none is taken for it. */
const asObject = (raw: RawQuery): Asked => ({ query: () => raw, text: `\n${JSON.stringify(raw)}` });

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
  const meta = { caller, collection: collection.name, query: spelledOut(asked.query()) };
  const rows = await deps.events.filter(names, list ? parsed : [parsed], meta);
  deps.events.action(names, { ...meta, payload: rows });
  return filtered ? { ...text, data: JSON.stringify(list ? rows : rows[0]) } : text;
}
