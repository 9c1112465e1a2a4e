import { type Caller, fail } from '#kernel';
import type { RawQuery, ReadText, Stream } from '../../query/contract.ts';
import { isUnknownField } from '../../query/library.ts';
import type { Items, Selecting } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { isOutdated } from '../outdated.ts';
import { castKey, findCollection, keyField, type Target } from '../target.ts';
import { type Explained, explained } from './explain.ts';
import { type Download, downloadOf } from './export/download.ts';
import { type Asked, createPlans } from './plan.ts';
import { createPlanRuns, type PlanUse, subjectsOf } from './run-plan.ts';
import { createWrittenRowSql, type WrittenRowSql } from './written-row.ts';

export type Reads = Pick<
  Items,
  'readMany' | 'readOne' | 'readKeys' | 'stream' | 'select' | 'export' | 'explain' | 'rows' | 'checkQuery'
> & {
  answer(caller: Caller, collection: string, asked: Asked): Promise<ReadText | Stream>;
  /** `readMany`, or with a key `readOne`, of which nobody is told: a listener may be the one who asks. */
  quiet(caller: Caller, collection: string, raw: RawQuery, key?: unknown): Promise<ReadText>;
  readonly writtenRow: WrittenRowSql;
};

export function createReads(deps: Deps): Reads {
  const { schema, access, query } = deps;
  const plan = createPlans(deps);
  const { run, runLong } = createPlanRuns(deps);

  async function use<T>(caller: Caller, name: string, asked: Asked, then: PlanUse<T>): Promise<T> {
    const set = await access.permissions(caller);
    // Before anything is said about the collection or the query, and before the database is asked about unknown names.
    if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
    const target = await findCollection(schema, name, caller);
    try {
      const cast = withKeys(asked, target);
      return await then(caller, target, cast, await plan(caller, set, target, cast));
    } catch (error) {
      // The tables may have changed under a statement; what is then still wrong is wrong.
      if (!(isOutdated(error) || isUnknownField(error))) throw error;
      const overview = await schema.refresh();
      if (overview.version === target.overview.version) throw error;
      const found = await findCollection(schema, name, caller);
      const cast = withKeys(asked, found);
      return then(caller, found, cast, await plan(caller, set, found, cast));
    }
  }

  const answer = (caller: Caller, name: string, asked: Asked): Promise<ReadText | Stream> =>
    use(caller, name, asked, runLong);

  const read = (caller: Caller, name: string, asked: Omit<Asked, 'inParts'>): Promise<ReadText> =>
    use(caller, name, asked, run) as Promise<ReadText>;

  return {
    answer,
    writtenRow: createWrittenRowSql(deps, plan, asObject),
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
      const { overview, collection } = await findCollection(schema, name, caller);
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
