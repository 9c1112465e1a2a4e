import { type Caller, fail } from '#kernel';
import type { RawQuery, ReadResultText, RowStream } from '../../query/contract.ts';
import { isUnknownFieldFailure } from '../../query/library.ts';
import type { ItemsEngine, SelectionReadRequest } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import {
  type CollectionInSnapshot,
  parseKeyValue,
  requireKeyField,
  requireServedCollection,
} from '../find-collection-and-key.ts';
import { isOutdatedStatementError, MAX_STATEMENT_ATTEMPTS } from '../outdated-statement.ts';
import { type ReadExplanation, toReadExplanation } from './explanation.ts';
import { createDownload, type ExportDownload } from './export/download.ts';
import { createReadPlanner, type ReadRequest } from './read-plan.ts';
import { createReadPlanRunner, executionContextOfCaller, type UseReadPlan } from './run-read-plan.ts';
import { createWrittenRowSqlCompiler, type WrittenRowSqlCompiler } from './written-row-sql.ts';

export type ReadVerbs = Pick<
  ItemsEngine,
  'readMany' | 'readOne' | 'readKeys' | 'stream' | 'select' | 'export' | 'explain' | 'rows' | 'checkQuery'
> & {
  readLong(caller: Caller, collection: string, request: ReadRequest): Promise<ReadResultText | RowStream>;
  /** `readMany`, or with a key `readOne`, without calling listeners: the caller may itself be a listener. */
  readWithoutListeners(caller: Caller, collection: string, raw: RawQuery, key?: unknown): Promise<ReadResultText>;
  readonly writtenRow: WrittenRowSqlCompiler;
};

export function createItemReads(deps: ItemsEngineDeps): ReadVerbs {
  const { db, schema, access, query } = deps;
  const plan = createReadPlanner(deps);
  const { run, runLong } = createReadPlanRunner(deps);

  async function withPlan<T>(caller: Caller, name: string, request: ReadRequest, usePlan: UseReadPlan<T>): Promise<T> {
    const set = await access.permissions(caller);
    // The permission check comes first, so that a caller without permission learns nothing of the collection or the
    // query, and causes no schema refresh for unknown names.
    if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
    let hasChanged = false;
    for (let attempt = 1; ; attempt++) {
      const target = await requireServedCollection(schema, name, caller);
      try {
        const castRequest = withCastKeys(request, target);
        return await usePlan(caller, target, castRequest, await plan(caller, set, target, castRequest));
      } catch (error) {
        // The tables may have changed since the statement was made. In a unit of work its owner begins again.
        const isOutdated = isOutdatedStatementError(error) && !db.isInUnitOfWork();
        if (!(isOutdated || isUnknownFieldFailure(error))) throw error;
        const { version } = await schema.refresh();
        const isNew = version !== target.schemaSnapshot.version;
        hasChanged ||= isNew;
        // Tables that change and change back look the same, and so does a function that is at fault: once more.
        if (!isNew && (!isOutdated || attempt > 1)) throw error;
        if (attempt === MAX_STATEMENT_ATTEMPTS) throw isOutdated && hasChanged ? createChangingFailure(name) : error;
      }
    }
  }

  const readLong = (caller: Caller, name: string, request: ReadRequest): Promise<ReadResultText | RowStream> =>
    withPlan(caller, name, request, runLong);

  const read = (caller: Caller, name: string, request: Omit<ReadRequest, 'streaming'>): Promise<ReadResultText> =>
    withPlan(caller, name, request, run) as Promise<ReadResultText>;

  return {
    readLong,
    writtenRow: createWrittenRowSqlCompiler(deps, plan, toReadRequest),
    readWithoutListeners: (caller, collection, raw, key) =>
      read(caller, collection, {
        ...toReadRequest(raw),
        withoutListeners: true,
        ...(key === undefined ? {} : { key }),
      }),
    readMany: (caller, collection, raw) => read(caller, collection, toReadRequest(raw)),
    readOne: (caller, collection, key, raw = {}) => read(caller, collection, { ...toReadRequest(raw), key }),
    readKeys: (caller, collection, keys, raw = {}) => read(caller, collection, { ...toReadRequest(raw), keys }),
    stream: (caller, collection, raw) => readLong(caller, collection, { ...toReadRequest(raw), streaming: 'long' }),
    select: (caller, collection, request) => readLong(caller, collection, toSelectionReadRequest(request)),
    export(caller, collection, format, raw, { keys, unlimited = false, onRows } = {}) {
      const request: ReadRequest = { query: () => raw, streaming: 'always', unlimited, ...(keys ? { keys } : {}) };
      return withPlan<ExportDownload>(caller, collection, request, async (planCaller, target, castRequest, readPlan) =>
        createDownload(readPlan.read, await run(planCaller, target, castRequest, readPlan), format, onRows),
      );
    },
    explain(caller, collection, raw, key) {
      const request: ReadRequest = { query: () => raw, streaming: 'long', ...(key === undefined ? {} : { key }) };
      return withPlan<ReadExplanation>(
        caller,
        collection,
        request,
        async (planCaller, _target, _request, { prepared }) =>
          toReadExplanation(collection, prepared, await query.explain(prepared, executionContextOfCaller(planCaller))),
      );
    },
    async checkQuery(caller, name, raw, { unlimited = false } = {}) {
      const set = await access.permissions(caller);
      if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
      const { schemaSnapshot, collection } = await requireServedCollection(schema, name, caller);
      query.parse(collection, raw, { schema: schemaSnapshot, isVisible: access.fieldVisibility(set), unlimited });
    },
    async rows<Row>(caller: Caller, collection: string, raw: RawQuery) {
      const { data } = await read(caller, collection, { query: () => raw, unlimited: true });
      const parsed = JSON.parse(data ?? '[]');
      return (Array.isArray(parsed) ? parsed : [parsed]) as Row[];
    },
  };
}

const createChangingFailure = (name: string) =>
  fail('SERVICE_UNAVAILABLE', `${name} is being changed; try again.`, { service: 'database' });

/** Casts the keys to the type of their column, since they are values of a compiled statement. */
const withCastKeys = (request: ReadRequest, { collection }: CollectionInSnapshot): ReadRequest =>
  request.keys
    ? { ...request, keys: request.keys.map((key) => parseKeyValue(requireKeyField(collection), key)) }
    : request;

/**
 * The cache key of a query object is its JSON text. The leading line break keeps it apart from query strings, which
 * have none.
 */
const toReadRequest = (raw: RawQuery): ReadRequest => ({ query: () => raw, text: `\n${JSON.stringify(raw)}` });

const emptyQuery = (): RawQuery => ({});

/** The prefix `selection` of the cache key keeps selections apart from queries. */
const toSelectionReadRequest = ({ text, ...request }: SelectionReadRequest): ReadRequest =>
  text === undefined
    ? { ...request, query: emptyQuery }
    : { ...request, query: emptyQuery, text: `\nselection ${text}` };
