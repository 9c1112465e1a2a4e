import type { Caller } from '#kernel';
import type { DynamicValueCache } from '../../access/contract.ts';
import type { PendingRevisionId } from '../../activity/contract.ts';
import type { ConditionTree, PermissionRestricted } from '../../query/contract.ts';
import type { Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { itemEventNames } from '../event-names.ts';
import { type CollectionInSnapshot, findWritableCollection, parseKeyValue } from '../find-collection-and-key.ts';
import {
  groupChangesByStatement,
  type PreparedChange,
  type SingleStatementRowChanges,
  splitChangesAtRepeatedKeys,
} from './change-groups.ts';
import { expandCompositeForeignKeys } from './composite-foreign-keys.ts';
import type { LevelWriteContext, RowChange } from './level-writes.ts';
import { mergeChangesOfSameRow } from './merge-changes.ts';
import {
  assertSystemKeyUnchanged,
  isEmptyPayload,
  withoutPlatformValues,
  withoutSensitivePlatformValues,
} from './platform-values.ts';
import { hasKeyColumns, sortUpdatedKeysLikeBefore, withoutUnchangedKey } from './row-key.ts';
import { prefixErrorPath } from './row-path.ts';
import { withGeneratedValues } from './special-fields.ts';
import { splitPayloadByRelation } from './split-payload.ts';
import { lockRows } from './stored-row-lookups.ts';
import { writeToManyFields } from './to-many.ts';
import { writeToOneFields } from './to-one.ts';
import { updateEachRow, updateRows } from './update.ts';
import { forbiddenRowsFailure, type WriteStatementContext } from './write-statement.ts';

type WritableTarget = CollectionInSnapshot & { readonly key: Field };

/** Changes rows of one collection. Returns the keys of the rows after each change. */
export async function updateLevelRows(
  context: LevelWriteContext,
  caller: Caller,
  name: string,
  changes: readonly RowChange[],
  isLast: boolean,
): Promise<Key[][]> {
  const { deps } = context;
  const target = await findWritableCollection(deps.schema, name);
  // A listener may read the rows, so it has to find the preceding changes applied.
  const hasFilterListeners = itemEventNames(target.collection, 'update').some((event) =>
    deps.events.hasListeners('filter', event),
  );
  const rows = mergeChangesOfSameRow(target.collection, target.key, changes);
  const parts = hasFilterListeners ? rows.map((one) => [one]) : splitChangesAtRepeatedKeys(rows, target.key);
  const answer = changes.length === 1 ? changes[0]?.answer : undefined;
  const changedKeys: Key[][] = [];
  for (const [at, part] of parts.entries())
    changedKeys.push(
      ...(await changeDistinctRows(context, caller, target, part, {
        isLast: isLast && at === parts.length - 1,
        answer,
      })),
    );
  return changedKeys;
}

async function changeDistinctRows(
  context: LevelWriteContext,
  caller: Caller,
  target: WritableTarget,
  changes: readonly RowChange[],
  { isLast, answer }: Pick<WriteStatementContext, 'isLast' | 'answer'>,
): Promise<Key[][]> {
  const { deps } = context;
  const { collection, key } = target;
  const prepare = createChangePreparer(context, caller, target);
  const prepared: PreparedChange[] = [];
  for (const change of changes) {
    const preparing = prepare(change).catch((error) => {
      throw prefixErrorPath(change.path ?? [], error);
    });
    prepared.push(await preparing);
  }
  const rows = await assertRowRulesFirst(context, caller, target, prepared);

  const hasRevisions = deps.activity.historyLevel(collection) === 'all';
  const written = await writeToOneFields(
    context,
    caller,
    rows.map(({ parts, revisions, path }) => ({
      parts,
      parentRevision: hasRevisions ? (revisions[0] ?? null) : null,
      path,
    })),
  );
  const columns = written.map((ownColumns, at) =>
    withoutUnchangedKey(key, (rows[at] as PreparedChange).keys, ownColumns),
  );
  const changed = columns.map((values, at) => ({ keys: (rows[at] as PreparedChange).keys, values }));
  await deps.access.assertAuthority(caller, collection.name, 'update', changed);
  const hasToMany = rows.some(({ parts }) => parts.toMany.length > 0);
  const groups = groupChangesByStatement(rows, columns, key);
  const changedKeys: Key[][] = [];
  for (const [at, group] of groups.entries()) {
    const isLastGroup = isLast && !hasToMany && at === groups.length - 1;
    const keys = await updateGroup(context, caller, target, group, { hasRevisions, isLast: isLastGroup, answer });
    for (const [index, place] of group.positions.entries()) changedKeys[place] = keys[index] as Key[];
  }
  await writeToManyFields(
    context,
    caller,
    rows.flatMap(({ parts, revisions, path }, at) =>
      (changedKeys[at] as Key[]).map((one, index) => ({
        toMany: parts.toMany,
        key: one,
        parentRevision: hasRevisions ? (revisions[index] as PendingRevisionId) : null,
        path,
        isNew: false,
      })),
    ),
  );
  for (const { keys, payload } of rows)
    deps.events.action(itemEventNames(collection, 'update'), { caller, collection: collection.name, keys, payload });
  return changedKeys;
}

/**
 * The row rule applies to the rows as they are before the request (conventions, 5). A nested row that is changed first
 * may be part of the rule, so the rule cannot wait for the statement. Rows under one rule are checked at once.
 */
async function assertRowRulesFirst(
  { deps }: LevelWriteContext,
  caller: Caller,
  { collection, schemaSnapshot }: WritableTarget,
  rows: readonly PreparedChange[],
): Promise<readonly PreparedChange[]> {
  const nested = new Set(rows.filter(({ parts, rowRule }) => parts.toOne.length > 0 && rowRule !== null));
  for (const same of Map.groupBy(nested, ({ requestedFields }) => requestedFields).values()) {
    const condition = deps.query.compileCondition(
      (same[0] as PreparedChange).rowRule as PermissionRestricted<ConditionTree>,
      caller,
      schemaSnapshot,
      2,
    );
    const keys = same.flatMap((row) => row.keys);
    if ((await lockRows(deps.db, collection, keys, condition)) < keys.length)
      throw forbiddenRowsFailure('updated', collection);
  }
  return nested.size === 0
    ? rows
    : rows.map((row) =>
        nested.has(row) ? { ...row, rowRule: null, requestedFields: `${row.requestedFields}\nchecked` } : row,
      );
}

/**
 * Creates the function that prepares a change before the statement: event filters, permissions, validation. Changes of
 * the same fields share their row rule.
 */
function createChangePreparer(
  { deps, countRows }: LevelWriteContext,
  caller: Caller,
  { collection, schemaSnapshot, key }: WritableTarget,
) {
  const rules = new Map<string, PermissionRestricted<ConditionTree>>();
  const values: DynamicValueCache = new Map();
  const ruleFor = async (
    fields: readonly string[],
    requestedFields: string,
  ): Promise<PermissionRestricted<ConditionTree>> => {
    const rule =
      rules.get(requestedFields) ??
      (await deps.access.restrictWrite(collection, 'update', fields, caller, schemaSnapshot));
    rules.set(requestedFields, rule);
    return rule;
  };

  return async ({
    keys: raw,
    payload,
    platformValues: rawPlatformValues = {},
    parentRevision = null,
    path = [],
  }: RowChange): Promise<PreparedChange> => {
    const keys = [...new Set(raw.map((one) => parseKeyValue(key, one)))];
    countRows(keys.length);
    const meta = { caller, collection: collection.name, keys };
    const platformValues = expandCompositeForeignKeys(collection, rawPlatformValues);
    const filterResult = await deps.events.filter(
      itemEventNames(collection, 'update'),
      { ...payload, ...platformValues },
      meta,
    );
    const filtered = expandCompositeForeignKeys(collection, filterResult);
    const granted = withoutSensitivePlatformValues(collection, platformValues);
    const submitted = withoutPlatformValues(filtered, granted);
    const fields = Object.keys(submitted);
    const requestedFields = fields.join('\0');
    const rowRule = await ruleFor(fields, requestedFields);
    const validated = await deps.access.validatePayload(
      collection,
      'update',
      submitted,
      caller,
      schemaSnapshot,
      granted,
      values,
    );
    const complete = isEmptyPayload(platformValues) ? validated : { ...validated, ...platformValues };
    const final = await withGeneratedValues(collection, 'update', complete, caller, deps.hash);
    assertSystemKeyUnchanged(collection, keys, final);
    const parts = splitPayloadByRelation(collection, final, schemaSnapshot);
    return {
      keys,
      parts,
      payload: final,
      rowRule,
      requestedFields,
      parentRevision,
      path,
      revisions: keys.map(() => ({ id: null })),
    };
  };
}

async function updateGroup(
  { deps }: LevelWriteContext,
  caller: Caller,
  { collection, schemaSnapshot, key }: WritableTarget,
  { rows, columns }: SingleStatementRowChanges,
  {
    hasRevisions,
    isLast,
    answer,
  }: { readonly hasRevisions: boolean } & Pick<WriteStatementContext, 'isLast' | 'answer'>,
): Promise<Key[][]> {
  const [first] = rows as readonly [PreparedChange];
  const conditionAt = (at: number) =>
    first.rowRule
      ? deps.query.compileCondition(first.rowRule, caller, schemaSnapshot, at)
      : { text: 'true', params: [] };
  const revisionPlaces = rows.flatMap(({ revisions, parentRevision }) =>
    revisions.map((revision) => ({ revision, parent: parentRevision })),
  );
  const hasNestedRows = hasRevisions && rows.some(({ parts }) => parts.toMany.length > 0);
  const hasRevisionPlaces =
    hasNestedRows ||
    (hasRevisions && revisionPlaces.some(({ revision, parent }) => parent !== null || revision.id !== null));
  const paths = rows.flatMap(({ keys, path }) => keys.map(() => path));
  const [ownColumns] = columns as readonly [Payload];
  // A statement that changes the key does not answer its row: foreign keys that cascade to the new key, even one of the
  // row itself, change after the statement.
  const isAnswered =
    isLast &&
    rows.length === 1 &&
    first.keys.length === 1 &&
    !hasKeyColumns(key, ownColumns) &&
    !(answer?.isForSingleRows && first.parts.toOne.length > 0);
  const statement = {
    caller,
    collection,
    paths,
    hasNestedRows,
    isLast,
    ...(hasRevisionPlaces ? { revisionPlaces } : {}),
    ...(isAnswered ? { answer } : {}),
  };
  if (rows.length === 1 || Object.keys(ownColumns).length === 0) {
    const changedKeys = await updateRows(
      deps,
      statement,
      rows.flatMap(({ keys }) => keys),
      ownColumns,
      conditionAt,
    );
    // Rows whose key changed are known by their new keys.
    if (hasKeyColumns(key, ownColumns))
      return [[...sortUpdatedKeysLikeBefore(first.keys, key, ownColumns, changedKeys)]];
    return collection.hasKey ? rows.map(({ keys }) => [...keys]) : [changedKeys];
  }
  const each = rows.flatMap(({ keys }, at) => keys.map((one) => ({ key: one, columns: columns[at] as Payload })));
  await updateEachRow(deps, statement, each, conditionAt);
  return rows.map(({ keys }) => [...keys]);
}
