import { type Caller, fail } from '#kernel';
import type { RawQuery, ReadText, Stream, Subjects } from '../../query/contract.ts';
import { isUnknownField } from '../../query/library.ts';
import type { Items, Key, Selecting } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { castKey, findCollection, keyField, type Target } from '../target.ts';
import { type Explained, explained } from './explain.ts';
import { type Download, downloadOf } from './export/download.ts';
import { isHeard, throughHooks } from './hooks.ts';
import { isShort, wholeIfShort } from './long-read.ts';
import { type Asked, createPlans, type Plan } from './plan.ts';
import { singletonDefaults } from './singleton.ts';

export type Reads = Pick<
  Items,
  'readMany' | 'readOne' | 'readKeys' | 'stream' | 'select' | 'export' | 'explain' | 'rows' | 'checkQuery'
> & {
  answer(caller: Caller, collection: string, asked: Asked): Promise<ReadText | Stream>;
  /** `readMany`, or with a key `readOne`, of which nobody is told: a listener may be the one who asks. */
  quiet(caller: Caller, collection: string, raw: RawQuery, key?: unknown): Promise<ReadText>;
};

/** What is done with a plan once it is there; done again where the tables turn out to have changed. */
type Use<T> = (caller: Caller, target: Target, asked: Asked, plan: Plan) => Promise<T>;

export function createReads(deps: Deps): Reads {
  const { schema, access, query, events } = deps;
  const plan = createPlans(deps);

  const subjectsOf = ({ user, role, owner }: Caller, more: Pick<Subjects, 'given' | 'keys'> = {}): Subjects => ({
    user,
    role,
    owner,
    ...more,
  });

  const run: Use<ReadText | Stream> = async (caller, target, asked, { prepared, read, told }) => {
    const { collection } = target;
    const subjects = subjectsOf(caller, {
      given: query.given(prepared, asked.given),
      ...(asked.keys ? { keys: asked.keys as readonly Key[] } : {}),
    });
    if (prepared.form === 'rows') return query.stream(prepared, subjects);
    const key = asked.key === undefined ? null : castKey(keyField(collection), asked.key);
    const text = await query.run(prepared, { ...subjects, key });
    if (text.data === null) {
      if (asked.key === undefined && collection.singleton)
        return { ...text, data: singletonDefaults(read, told?.shape) };
      throw fail('FORBIDDEN', `${collection.name} has no readable row ${String(asked.key)}`);
    }
    // What is read of a selection is settled by then, whoever may have come or gone.
    if (told) return throughHooks(events, caller, collection, told.query, text, told.shape);
    return !asked.selection && !asked.silent && isHeard(events, collection)
      ? throughHooks(events, caller, collection, asked.query(), text)
      : text;
  };

  async function use<T>(caller: Caller, name: string, asked: Asked, then: Use<T>): Promise<T> {
    const set = await access.permissions(caller);
    // Before anything is said about the collection or the query, and before the database is asked about unknown names.
    if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
    const target = await findCollection(schema, name);
    try {
      const cast = withKeys(asked, target);
      return await then(caller, target, cast, await plan(caller, set, target, cast));
    } catch (error) {
      // The tables may have changed under a statement; what is then still wrong is wrong.
      if (!(isOutdated(error) || isUnknownField(error))) throw error;
      const overview = await schema.refresh();
      if (overview.version === target.overview.version) throw error;
      const found = await findCollection(schema, name);
      const cast = withKeys(asked, found);
      return then(caller, found, cast, await plan(caller, set, found, cast));
    }
  }

  const runLong: Use<ReadText | Stream> = async (caller, target, asked, plan) => {
    if (plan.prepared.form === 'text') return run(caller, target, asked, plan);
    if (plan.short) {
      const subjects = subjectsOf(caller, { given: query.given(plan.short, asked.given) });
      let stays = false;
      try {
        const text = await query.run(plan.short, subjects);
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
    quiet: (caller, collection, raw, key) =>
      read(caller, collection, { ...asObject(raw), silent: true, ...(key === undefined ? {} : { key }) }),
    readMany: (caller, collection, raw) => read(caller, collection, asObject(raw)),
    readOne: (caller, collection, key, raw = {}) => read(caller, collection, { ...asObject(raw), key }),
    readKeys: (caller, collection, keys, raw = {}) => read(caller, collection, { ...asObject(raw), keys }),
    stream: (caller, collection, raw) => answer(caller, collection, { ...asObject(raw), inParts: 'long' }),
    select: (caller, collection, asked) => answer(caller, collection, asSelection(asked)),
    export(caller, collection, format, raw, keys) {
      const asked: Asked = { query: () => raw, inParts: 'always', ...(keys ? { keys } : {}) };
      return use<Download>(caller, collection, asked, async (who, target, what, made) =>
        downloadOf(made.read, await run(who, target, what, made), format),
      );
    },
    explain(caller, collection, raw, key) {
      const asked: Asked = { query: () => raw, inParts: 'long', ...(key === undefined ? {} : { key }) };
      return use<Explained>(caller, collection, asked, async (who, _target, _what, { prepared }) =>
        explained(collection, prepared, await query.explain(prepared, subjectsOf(who))),
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

/** Keys as their column has them: they are values of a statement that is there already. */
const withKeys = (asked: Asked, { collection }: Target): Asked =>
  asked.keys ? { ...asked, keys: asked.keys.map((key) => castKey(keyField(collection), key)) } : asked;

/** A query that came as an object has a text as well. No query string has a line break, so none is taken for it. */
const asObject = (raw: RawQuery): Asked => ({ query: () => raw, text: `\n${JSON.stringify(raw)}` });

const noQuery = (): RawQuery => ({});

/** Nor does a query's text begin like this. */
const asSelection = ({ text, ...asked }: Selecting): Asked =>
  text === undefined ? { ...asked, query: noQuery } : { ...asked, query: noQuery, text: `\nselection ${text}` };

/** Undefined table, column or function, or a type that is no longer what it was. */
const isOutdated = (error: unknown): boolean =>
  ['42P01', '42703', '42883', '42804'].includes((error as { code?: string } | null)?.code ?? '');
