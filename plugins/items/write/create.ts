import type { Caller } from '#kernel';
import type { DynamicValueCache } from '../../access/contract.ts';
import type { PendingRevisionId } from '../../activity/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { itemEventNames } from '../event-names.ts';
import { type CollectionInSnapshot, findWritableCollection } from '../find-collection-and-key.ts';
import { expandCompositeForeignKeys } from './composite-foreign-keys.ts';
import { insertRows } from './insert.ts';
import type { LevelWriteContext, RowCreate } from './level-writes.ts';
import { isEmptyPayload, withoutPlatformValues, withoutSensitivePlatformValues } from './platform-values.ts';
import { prefixErrorPath, type RequestRowPath } from './row-path.ts';
import { withGeneratedValues } from './special-fields.ts';
import { type SplitPayload, splitPayloadByRelation } from './split-payload.ts';
import { writeToManyFields } from './to-many.ts';
import { writeToOneFields } from './to-one.ts';
import type { WriteStatementContext } from './write-statement.ts';

interface PreparedCreate {
  readonly parts: SplitPayload;
  /** The payload after filters, validation and generated values: action listeners receive it. */
  readonly payload: Payload;
  readonly parent: PendingRevisionId | null;
  readonly revision: PendingRevisionId;
}

/** The values that all rows of one call share. */
interface Batch {
  readonly values: DynamicValueCache;
  /** Without a filter no payload is copied for its listeners. */
  readonly hasFilters: boolean;
}

/** Creates rows of one collection. Returns their keys in the order of `entries`. */
export async function createRows(
  context: LevelWriteContext,
  caller: Caller,
  name: string,
  entries: readonly RowCreate[],
  { isLast, answer }: Pick<WriteStatementContext, 'isLast' | 'answer'>,
): Promise<Key[]> {
  const { deps } = context;
  context.countRows(entries.length);
  const target = await findWritableCollection(deps.schema, name);
  const { collection } = target;
  const rows: PreparedCreate[] = [];
  const values: DynamicValueCache = new Map();
  const names = itemEventNames(collection, 'create');
  const hasFilters = names.some((event) => deps.events.hasListeners('filter', event));
  for (const entry of entries) rows.push(await prepareCreate(context, caller, target, entry, { values, hasFilters }));
  const paths = entries.map(({ path = [] }) => path);

  const hasRevisions = deps.activity.historyLevel(collection) === 'all';
  const revisionOf = (row: PreparedCreate) => (hasRevisions ? row.revision : null);
  const columns = await writeToOneFields(
    context,
    caller,
    rows.map((row, at) => ({ parts: row.parts, parentRevision: revisionOf(row), path: paths[at] as RequestRowPath })),
  );
  const created = columns.map((values) => ({ keys: [], values }));
  await deps.access.assertAuthority(caller, collection.name, 'create', created);
  const hasNestedRows = hasRevisions && rows.some(({ parts }) => parts.toMany.length > 0);
  const hasRevisionPlaces =
    hasNestedRows || (hasRevisions && rows.some(({ parent, revision }) => parent !== null || revision.id !== null));
  const isLastStatement = isLast && rows.every(({ parts }) => parts.toMany.length === 0);
  const isAnswered = isLastStatement && !(answer?.isForSingleRows && rows.some(({ parts }) => parts.toOne.length > 0));
  const keys = await insertRows(
    deps,
    {
      caller,
      collection,
      paths,
      hasNestedRows,
      ...(hasRevisionPlaces ? { revisionPlaces: rows } : {}),
      isLast: isLastStatement,
      ...(isAnswered ? { answer } : {}),
    },
    columns,
  );
  await writeToManyFields(
    context,
    caller,
    rows.map((row, at) => ({
      toMany: row.parts.toMany,
      key: keys[at] as Key,
      parentRevision: revisionOf(row),
      path: paths[at] as RequestRowPath,
      isNew: true,
    })),
  );
  if (names.some((event) => deps.events.hasListeners('action', event))) {
    for (const [at, { payload }] of rows.entries())
      deps.events.action(names, { caller, collection: name, payload, key: keys[at] });
  }
  return keys;
}

async function prepareCreate(
  context: LevelWriteContext,
  caller: Caller,
  target: CollectionInSnapshot,
  entry: RowCreate,
  batch: Batch,
): Promise<PreparedCreate> {
  try {
    return await prepareCreateUnlocated(context, caller, target, entry, batch);
  } catch (error) {
    throw prefixErrorPath(entry.path ?? [], error);
  }
}

async function prepareCreateUnlocated(
  { deps }: LevelWriteContext,
  caller: Caller,
  { collection, schemaSnapshot }: CollectionInSnapshot,
  { payload, platformValues: rawPlatformValues = {}, parentRevision = null }: RowCreate,
  { values, hasFilters }: Batch,
): Promise<PreparedCreate> {
  const platformValues = expandCompositeForeignKeys(collection, rawPlatformValues);
  const granted = withoutSensitivePlatformValues(collection, platformValues);
  const initial = isEmptyPayload(platformValues) ? payload : { ...payload, ...platformValues };
  const filtered = expandCompositeForeignKeys(
    collection,
    hasFilters
      ? await deps.events.filter(
          itemEventNames(collection, 'create'),
          { ...initial },
          { caller, collection: collection.name },
        )
      : initial,
  );
  const submitted = withoutPlatformValues(filtered, granted);
  const validated = await deps.access.validatePayload(
    collection,
    'create',
    submitted,
    caller,
    schemaSnapshot,
    granted,
    values,
  );
  const complete = isEmptyPayload(platformValues) ? validated : { ...validated, ...platformValues };
  const final = await withGeneratedValues(collection, 'create', complete, caller, deps.hash);
  return {
    parts: splitPayloadByRelation(collection, final, schemaSnapshot),
    payload: final,
    parent: parentRevision,
    revision: { id: null },
  };
}
