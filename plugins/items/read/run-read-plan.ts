import { type Caller, fail } from '#kernel';
import type { QueryExecutionContext, ReadResultText, RowStream } from '../../query/contract.ts';
import { currentAnswerSources } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { itemEventNames } from '../event-names.ts';
import { type CollectionInSnapshot, parseKeyValue, requireKeyField } from '../find-collection-and-key.ts';
import { isShortReadResult, toReadResultTextIfShort } from './long-read.ts';
import { applyReadListeners, hasReadListeners } from './read-listeners.ts';
import type { ReadPlan, ReadRequest } from './read-plan.ts';
import { renderSingletonDefaults } from './singleton-defaults.ts';

/**
 * Uses a read plan, for example runs it. Called again with a new plan where the tables have changed since the plan was
 * made.
 */
export type UseReadPlan<T> = (
  caller: Caller,
  target: CollectionInSnapshot,
  request: ReadRequest,
  plan: ReadPlan,
) => Promise<T>;

export interface ReadPlanRunner {
  /** Runs the statement of a plan and passes the rows to the read listeners of the collection. */
  readonly run: UseReadPlan<ReadResultText | RowStream>;
  /** The same for a plan that may be long: one text where the answer turns out to be short. */
  readonly runLong: UseReadPlan<ReadResultText | RowStream>;
}

export function createReadPlanRunner({ query, events }: Pick<ItemsEngineDeps, 'query' | 'events'>): ReadPlanRunner {
  const run: UseReadPlan<ReadResultText | RowStream> = async (
    caller,
    target,
    request,
    { prepared, read, readListeners },
  ) => {
    const { collection } = target;
    reportReadEvents(collection);
    const execution = executionContextOfCaller(caller, {
      boundValues: query.bindPlaceholders(prepared, request.placeholders),
      ...(request.keys ? { keys: request.keys as readonly Key[] } : {}),
    });
    if (prepared.form === 'rows') return query.stream(prepared, execution);
    const key = request.key === undefined ? null : parseKeyValue(requireKeyField(collection), request.key);
    const text = await query.run(prepared, { ...execution, key });
    if (text.data === null) {
      if (request.key === undefined && collection.singleton)
        return { ...text, data: renderSingletonDefaults(read, readListeners?.shape) };
      throw fail('FORBIDDEN', `${collection.name} has no readable row ${String(request.key)}`);
    }
    // The plan decides what a selection reads, also where listeners are added or removed meanwhile.
    if (readListeners)
      return applyReadListeners(events, caller, collection, readListeners.query, text, readListeners.shape);
    return !request.selection && !request.withoutListeners && hasReadListeners(events, collection)
      ? applyReadListeners(events, caller, collection, request.query(), text)
      : text;
  };

  const runLong: UseReadPlan<ReadResultText | RowStream> = async (caller, target, request, plan) => {
    if (plan.prepared.form === 'text') return run(caller, target, request, plan);
    if (plan.preparedText) {
      reportReadEvents(target.collection);
      const execution = executionContextOfCaller(caller, {
        boundValues: query.bindPlaceholders(plan.preparedText, request.placeholders),
      });
      let isKept = false;
      try {
        const text = await query.run(plan.preparedText, execution);
        isKept = isShortReadResult(text);
        return text;
      } finally {
        if (!isKept) plan.preparedText = null;
      }
    }
    const found = await toReadResultTextIfShort((await run(caller, target, request, plan)) as RowStream);
    const isRemembered = request.text !== undefined;
    if (!('batches' in found) && isRemembered && plan.preparedText === undefined)
      plan.preparedText = query.keepPrepared(query.prepare(plan.read, target.schemaSnapshot));
    return found;
  };

  return { run, runLong };
}

/** Tells a cache of answers which listeners the answer passes. */
function reportReadEvents(collection: Collection): void {
  const sources = currentAnswerSources();
  sources?.addEvents(itemEventNames(collection, 'query'));
  sources?.addEvents(itemEventNames(collection, 'read'));
}

/** The values that a statement takes from its caller, and `more`. */
export const executionContextOfCaller = (
  { user, role, owner, ip, admin }: Caller,
  more: Pick<QueryExecutionContext, 'boundValues' | 'keys'> = {},
): QueryExecutionContext => ({
  user,
  role,
  owner,
  ip,
  admin,
  ...more,
});
