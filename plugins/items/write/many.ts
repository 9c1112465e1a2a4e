import type { Caller } from '#kernel';
import type { RevisionSlot } from '../../activity/contract.ts';
import type { Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import { findWritable } from '../target.ts';
import type { Inner, Work } from './inner.ts';
import { childrenOf, existingKeys, hasOneText } from './lookups.ts';
import { type Holder, type Many, type ManyPlan, namedKeys, planMany, released } from './many-plan.ts';
import { upsertRows } from './one.ts';
import { placesOf } from './places.ts';
import { keyNames } from './row-key.ts';
import type { RowPath } from './row-path.ts';
import type { ManyPart } from './split.ts';

interface Parent {
  readonly manys: readonly ManyPart[];
  readonly key: Key;
  readonly above: RevisionSlot | null;
  readonly path: RowPath;
  readonly isNew: boolean;
}

/** Writes the to-many rows of all parents of a level, those of one alias at once. */
export async function writeManys(work: Work, caller: Caller, parents: readonly Parent[]): Promise<void> {
  const groups = new Map<Field, Holder[]>();
  for (const { manys, ...parent } of parents) {
    for (const { field, value } of manys) {
      const holders = groups.get(field);
      if (holders) holders.push({ ...parent, value });
      else groups.set(field, [{ ...parent, value }]);
    }
  }
  for (const [field, holders] of groups) await writeMany(work, caller, field, holders);
}

/**
 * A list replaces what was there, `{ create, update, delete }` changes it (specification, "Relational write shapes"). Rows
 * left out are let go as the relation says: their key is set to null, or they are deleted.
 */
async function writeMany(work: Work, caller: Caller, field: Field, holders: readonly Holder[]): Promise<void> {
  if (field.relation?.kind !== 'many') return;
  const { deps } = work;
  const { relation } = field.relation;
  const { collection: to, key, overview } = await findWritable(deps.schema, field.relation.to);
  const link = to.fields.get(relation.field) as Field;
  const asked = holders.filter(({ isNew, value }) => !isNew && (value.kind === 'list' || value.remove.length > 0));
  const children = await childrenOf(deps.db, to, link, [...new Set(asked.map((holder) => holder.key))]);
  const about = { field, to, key, link, overview };
  const named = hasOneText(key) ? [] : asked.flatMap((holder) => namedKeys(about, holder));
  const stored = await existingKeys(deps.db, to, named);
  const many: Many = { ...about, stored, before: (holder) => children.get(holder.key) ?? [] };

  const plans = holders.map((holder) => planMany(many, holder));
  const { inner } = work;
  const places = await placesOf(deps, to, relation, link, plans);
  const entries = plans.flatMap(({ holder, given, create }) =>
    create.map((payload, at) => ({
      payload,
      given: { ...given, ...places.get(payload) },
      above: holder.above,
      path: [...holder.path, field.name, 'create', at],
    })),
  );
  if (entries.length > 0) await inner.create(caller, to.name, entries);
  await upsertAll(work, inner, caller, to.name, plans);
  const takes = plans.filter(({ take }) => take.length > 0);
  if (takes.length > 0) {
    const changes = takes.map(({ holder, given, take }) => ({
      ...{ keys: take, payload: {}, given, above: holder.above },
      path: [...holder.path, field.name],
    }));
    await inner.update(caller, to.name, changes);
  }
  const letGo = released(plans);
  if (letGo.length === 0) return;
  // What leads here cannot be null in a row that is known by it: such a row is the link itself.
  if (relation.meta?.one_deselect_action === 'delete' || keyNames(link).some((name) => keyNames(key).includes(name))) {
    const keys = letGo.flatMap((one) => one.keys);
    await inner.remove(caller, to.name, keys);
    return;
  }
  const given = { [link.name]: null };
  const changes = letGo.map(({ holder, keys }) => ({
    ...{ keys, payload: {}, given, above: holder.above },
    path: [...holder.path, field.name],
  }));
  await inner.update(caller, to.name, changes);
}

async function upsertAll(work: Work, inner: Inner, caller: Caller, to: string, plans: readonly ManyPlan[]) {
  const rows = plans.flatMap((plan) => plan.upsert.map((row) => ({ row, plan })));
  if (rows.length === 0) return;
  const keys = await upsertRows(
    work.deps,
    inner,
    caller,
    to,
    rows.map(({ row }) => row),
  );
  // Under `update` a row may be named that is also to be removed, which then has the last word.
  for (const [at, { plan }] of rows.entries()) if (plan.holder.value.kind === 'list') plan.stays.add(String(keys[at]));
}
