import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { PermissionSet } from '../../access/contract.ts';
import type {
  GivenValues,
  GroupSelection,
  Prepared,
  RawQuery,
  Read,
  Restricted,
  Selection,
} from '../../query/contract.ts';
import { unknownField } from '../../query/library.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../names.ts';
import { keyField, type Target } from '../target.ts';
import { isHeard } from './hooks.ts';
import { isLong } from './long-read.ts';
import { questionOf } from './question.ts';
import { weightOf } from './weight.ts';

/** A read as a route asks for it: the query is only parsed when no compiled statement is remembered for its text. */
export interface Asked {
  readonly query: () => RawQuery;
  /** In place of the query; `open` with `Given`s in it. */
  readonly selection?: (open?: boolean) => Selection | GroupSelection;
  /** The values of those, which the text says nothing of. */
  readonly given?: GivenValues;
  /** The query as text, where the same text always means the same query. */
  readonly text?: string;
  readonly key?: unknown;
  readonly keys?: readonly unknown[];
  readonly unlimited?: boolean;
  /** No listener is told of the read, nor may change it. */
  readonly silent?: boolean;
  /** Row by row where it may be long, or always: what one reads who can take it in parts. */
  readonly inParts?: 'long' | 'always';
}

export interface Plan {
  prepared: Prepared;
  readonly read: Restricted<Read>;
  /** Of a selection whose rows somebody wants: the query they are told of, and how their rows become the answer. */
  readonly told?: { readonly query: RawQuery; readonly shape: (row: unknown) => unknown };
  /**
   * For a read that may be long and was not: the same as one text, which costs half. Null once it was long after all, or
   * failed: from then on it goes through a cursor.
   */
  short?: Prepared | null;
}

const MAX_REMEMBERED_TEXT = 2000;
/** Characters of all statements kept; the trees they came from weigh several times as much. */
const MAX_REMEMBERED_STATEMENTS = 8_000_000;

export type MakePlan = (caller: Caller, set: PermissionSet, target: Target, asked: Asked) => Promise<Plan>;

/** From what was asked to a statement with the caller's permissions in it, or from memory. */
export function createPlans({ schema, access, query, events }: Deps): MakePlan {
  /** Compiled statements by everything they depend on: text, schema version, permission set. Never by user or key. */
  const plans = new LRUCache<string, Plan>({
    max: 2000,
    // Short queries can make long statements (`*.*.*`), so what is kept is bounded by its size as well.
    maxSize: MAX_REMEMBERED_STATEMENTS,
    sizeCalculation: ({ prepared }, key) => key.length + weightOf(prepared),
  });

  return async (caller, set, target, asked) => {
    const { overview, collection } = target;
    // Listeners want the rows, all of them.
    const heard = (asked.inParts !== undefined || asked.selection !== undefined) && isHeard(events, collection);
    const inParts = asked.inParts !== undefined && !heard ? asked.inParts : '';
    // Those who are told of a query are told of its values.
    const told = asked.selection !== undefined && heard ? ` told ${JSON.stringify(asked.given)}` : '';
    const remembered =
      asked.text !== undefined && asked.text.length + told.length <= MAX_REMEMBERED_TEXT
        ? `${overview.version}\n${set.version}\n${set.key}\n${collection.name}\n${asked.keys ? 'keys' : asked.key === undefined ? inParts : 'key'}${told}\n${asked.text}`
        : undefined;
    const listened = !asked.silent && eventNames(collection, 'query').some((name) => events.has('filter', name));
    const known = remembered !== undefined && !listened ? plans.get(remembered) : undefined;
    if (known) {
      // It came a second time, so it will come again. Cursors are made anew each time.
      if (known.prepared.form === 'text') known.prepared = query.keep(known.prepared);
      return known;
    }
    const question = await questionOf(events, caller, collection, asked, { ofQuery: listened, ofRows: told !== '' });
    const { query: asks, selection } = question;
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
      ...(selection ? { selection } : {}),
      single: asked.key !== undefined || collection.singleton,
      ...(asked.keys ? { keys: { dynamic: 'keys' } } : {}),
    });
    // A name that is left out may be that of a column made a moment ago.
    if (unknown && (await schema.refresh()).version !== overview.version)
      throw unknownField('in fields', collection.name);
    const read = await access.restrict(asked.key === undefined ? parsed : onlyKey(parsed), caller, overview);
    const inRows = inParts === 'always' ? !read.single && !read.aggregate : inParts === 'long' && isLong(read);
    const made: Plan = {
      prepared: query.prepare(read, overview, inRows ? 'rows' : 'text'),
      read,
      ...(question.told ? { told: { query: question.told.query, shape: question.told.shape(read) } } : {}),
    };
    if (remembered !== undefined && !listened) plans.set(remembered, made);
    return made;
  };
}

/**
 * The row whose key is filled in when the statement runs, beside whatever filter the query has. A table has no second one; what a
 * view is said to have as its key may be there twice.
 */
function onlyKey(read: Read): Read {
  const key = keyField(read.collection);
  const test = { kind: 'test', use: { field: key }, operator: '_eq', values: [{ dynamic: 'key' }] } as const;
  return {
    ...read,
    where: { kind: 'all', of: [test, read.where] },
    order: [],
    limit: read.collection.kind === 'table' ? null : 1,
  };
}
