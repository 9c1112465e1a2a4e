import type { Caller } from '#kernel';
import type { PendingRevisionId } from '../../activity/contract.ts';
import type { Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import { findWritableCollection } from '../find-collection-and-key.ts';
import type { LevelWriteContext, LevelWrites } from './level-writes.ts';
import { keyColumnNames } from './row-key.ts';
import type { RequestRowPath } from './row-path.ts';
import { assignSortPositions } from './sort-positions.ts';
import type { ToManyPayloadPart } from './split-payload.ts';
import { findExistingKeys, findLinkedKeys, hasCanonicalKeyText } from './stored-row-lookups.ts';
import {
  findUnlinkedRows,
  keysOfToManyValue,
  planToManyWrites,
  type ToManyAlias,
  type ToManyParentRow,
  type ToManyWritePlan,
} from './to-many-plan.ts';
import { upsertRows } from './to-one.ts';

interface ToManyParent {
  readonly toMany: readonly ToManyPayloadPart[];
  readonly key: Key;
  readonly parentRevision: PendingRevisionId | null;
  readonly path: RequestRowPath;
  readonly isNew: boolean;
}

/**
 * Inserts, updates and deletes the related rows that the payloads of one nesting level contain, one o2m/m2m field at a
 * time.
 */
export async function writeToManyFields(
  context: LevelWriteContext,
  caller: Caller,
  parents: readonly ToManyParent[],
): Promise<void> {
  const groups = new Map<Field, ToManyParentRow[]>();
  for (const { toMany, ...parent } of parents) {
    for (const { field, value } of toMany) {
      const parents = groups.get(field);
      if (parents) parents.push({ ...parent, value });
      else groups.set(field, [{ ...parent, value }]);
    }
  }
  for (const [field, parents] of groups) await writeToManyField(context, caller, field, parents);
}

/**
 * A list replaces the linked rows, `{ create, update, delete }` changes them (specification, "Relational write
 * shapes"). Omitted rows are unlinked as the relation says: their foreign key is set to null, or they are deleted.
 */
async function writeToManyField(
  context: LevelWriteContext,
  caller: Caller,
  field: Field,
  parents: readonly ToManyParentRow[],
): Promise<void> {
  if (field.relation?.kind !== 'many') return;
  const { deps } = context;
  const { relation } = field.relation;
  const { collection: to, key, schemaSnapshot } = await findWritableCollection(deps.schema, field.relation.to);
  const link = to.fields.get(relation.field) as Field;
  const parentsToRead = parents.filter(
    ({ isNew, value }) => !isNew && (value.kind === 'list' || value.remove.length > 0),
  );
  const children = await findLinkedKeys(deps.db, to, link, [...new Set(parentsToRead.map((parent) => parent.key))]);
  const aliasFields = { field, to, key, link, schemaSnapshot };
  const sentKeys = hasCanonicalKeyText(key)
    ? []
    : parentsToRead.flatMap((parent) => keysOfToManyValue(aliasFields, parent));
  const storedKeys = await findExistingKeys(deps.db, to, sentKeys);
  const alias: ToManyAlias = { ...aliasFields, storedKeys, linkedBefore: (parent) => children.get(parent.key) ?? [] };

  const plans = parents.map((parent) => planToManyWrites(alias, parent));
  const { nested } = context;
  const positions = await assignSortPositions(deps, to, relation, link, plans);
  const entries = plans.flatMap(({ parent, linkColumns, create }) =>
    create.map((payload, at) => ({
      payload,
      platformValues: { ...linkColumns, ...positions.get(payload) },
      parentRevision: parent.parentRevision,
      path: [...parent.path, field.name, 'create', at],
    })),
  );
  if (entries.length > 0) await nested.create(caller, to.name, entries);
  await upsertPlannedRows(context, nested, caller, to.name, plans);
  const plansWithLinks = plans.filter((plan) => plan.link.length > 0);
  if (plansWithLinks.length > 0) {
    const changes = plansWithLinks.map(({ parent, linkColumns, link: keys }) => ({
      ...{ keys, payload: {}, platformValues: linkColumns, parentRevision: parent.parentRevision },
      path: [...parent.path, field.name],
    }));
    await nested.update(caller, to.name, changes);
  }
  const unlinked = findUnlinkedRows(plans);
  if (unlinked.length === 0) return;
  // A foreign key that is part of the row's own key cannot be null, so the row is deleted: it is the link itself.
  if (
    relation.meta?.one_deselect_action === 'delete' ||
    keyColumnNames(link).some((name) => keyColumnNames(key).includes(name))
  ) {
    const keys = unlinked.flatMap((one) => one.keys);
    await nested.remove(caller, to.name, keys);
    return;
  }
  const linkColumns = { [link.name]: null };
  const changes = unlinked.map(({ parent, keys }) => ({
    ...{ keys, payload: {}, platformValues: linkColumns, parentRevision: parent.parentRevision },
    path: [...parent.path, field.name],
  }));
  await nested.update(caller, to.name, changes);
}

async function upsertPlannedRows(
  context: LevelWriteContext,
  nested: LevelWrites,
  caller: Caller,
  to: string,
  plans: readonly ToManyWritePlan[],
) {
  const rows = plans.flatMap((plan) => plan.upsert.map((row) => ({ row, plan })));
  if (rows.length === 0) return;
  const keys = await upsertRows(
    context.deps,
    nested,
    caller,
    to,
    rows.map(({ row }) => row),
  );
  // A row may be named under `update` and under `delete`, which then wins.
  for (const [at, { plan }] of rows.entries())
    if (plan.parent.value.kind === 'list') plan.linkedAfter.add(String(keys[at]));
}
