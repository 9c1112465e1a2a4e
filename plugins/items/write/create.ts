import type { Caller } from '#kernel';
import type { RuleValues } from '../../access/contract.ts';
import type { RevisionSlot } from '../../activity/contract.ts';
import { type CollectionTarget, findWritableCollection } from '../collection-target.ts';
import type { Key, Payload } from '../contract.ts';
import { eventNames } from '../event-names.ts';
import { insertRows } from './insert.ts';
import { expandJointKeys } from './joint-keys.ts';
import type { RowCreate, WriteContext } from './level-writes.ts';
import { withoutFields, withoutSensitiveFields } from './platform-values.ts';
import { prefixPath, type RowPath } from './row-path.ts';
import { withGeneratedValues } from './special-fields.ts';
import { type PayloadParts, splitPayload } from './split-payload.ts';
import { writeToManyFields } from './to-many.ts';
import { writeToOneFields } from './to-one.ts';

interface PreparedCreate {
  readonly parts: PayloadParts;
  /** The payload as written, for listeners. */
  readonly payload: Payload;
  readonly parent: RevisionSlot | null;
  readonly revision: RevisionSlot;
}

/** Creates rows of one collection. Returns their keys in the order of `entries`. */
export async function createRows(
  context: WriteContext,
  caller: Caller,
  name: string,
  entries: readonly RowCreate[],
  isLast: boolean,
): Promise<Key[]> {
  const { deps } = context;
  context.countRows(entries.length);
  const target = await findWritableCollection(deps.schema, name);
  const { collection } = target;
  const rows: PreparedCreate[] = [];
  const values: RuleValues = new Map();
  for (const entry of entries) rows.push(await prepareCreate(context, caller, target, entry, values));
  const paths = entries.map(({ path = [] }) => path);

  const hasRevisions = deps.activity.historyLevel(collection) === 'all';
  const revisionOf = (row: PreparedCreate) => (hasRevisions ? row.revision : null);
  const columns = await writeToOneFields(
    context,
    caller,
    rows.map((row, at) => ({ parts: row.parts, parentRevision: revisionOf(row), path: paths[at] as RowPath })),
  );
  const created = columns.map((values) => ({ keys: [], values }));
  await deps.access.assertAuthority(caller, collection.name, 'create', created);
  const hasNestedRows = hasRevisions && rows.some(({ parts }) => parts.toMany.length > 0);
  const hasRevisionPlaces =
    hasNestedRows || (hasRevisions && rows.some(({ parent, revision }) => parent !== null || revision.id !== null));
  const isLastStatement = isLast && rows.every(({ parts }) => parts.toMany.length === 0);
  const keys = await insertRows(
    deps,
    {
      caller,
      collection,
      paths,
      hasNestedRows,
      ...(hasRevisionPlaces ? { revisionPlaces: rows } : {}),
      isLast: isLastStatement,
      ...(isLastStatement && entries.length === 1 ? { answer: entries[0]?.answer } : {}),
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
      path: paths[at] as RowPath,
      isNew: true,
    })),
  );
  for (const [at, { payload }] of rows.entries())
    deps.events.action(eventNames(collection, 'create'), { caller, collection: name, payload, key: keys[at] });
  return keys;
}

async function prepareCreate(
  context: WriteContext,
  caller: Caller,
  target: CollectionTarget,
  entry: RowCreate,
  values: RuleValues,
): Promise<PreparedCreate> {
  try {
    return await prepareCreateUnlocated(context, caller, target, entry, values);
  } catch (error) {
    throw prefixPath(entry.path ?? [], error);
  }
}

async function prepareCreateUnlocated(
  { deps }: WriteContext,
  caller: Caller,
  { collection, schemaSnapshot }: CollectionTarget,
  { payload, platformValues: rawPlatformValues = {}, parentRevision = null }: RowCreate,
  values: RuleValues,
): Promise<PreparedCreate> {
  const platformValues = expandJointKeys(collection, rawPlatformValues);
  const granted = withoutSensitiveFields(collection, platformValues);
  const meta = { caller, collection: collection.name };
  const filterResult = await deps.events.filter(
    eventNames(collection, 'create'),
    { ...payload, ...platformValues },
    meta,
  );
  const filtered = expandJointKeys(collection, filterResult);
  const submitted = withoutFields(filtered, granted);
  const validated = await deps.access.admit(collection, 'create', submitted, caller, schemaSnapshot, granted, values);
  const final = await withGeneratedValues(collection, 'create', { ...validated, ...platformValues }, caller, deps.hash);
  return {
    parts: splitPayload(collection, final, schemaSnapshot),
    payload: final,
    parent: parentRevision,
    revision: { id: null },
  };
}
