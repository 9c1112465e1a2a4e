import type { Caller } from '#kernel';
import type { RuleValues } from '../../access/contract.ts';
import type { RevisionSlot } from '../../activity/contract.ts';
import type { Restricted, Where } from '../../query/contract.ts';
import type { Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { eventNames } from '../names.ts';
import { castKey, findWritable, type Target } from '../target.ts';
import { assertSameKey, withoutFields, withoutGrant } from './given.ts';
import type { Change, Work } from './inner.ts';
import { withoutJoints } from './joint.ts';
import { lockedRows } from './lookups.ts';
import { writeManys } from './many.ts';
import { merged } from './merge.ts';
import { writeOnes } from './one.ts';
import { inOrderOf, setsKey, withoutSameKey } from './row-key.ts';
import { type RowPath, under } from './row-path.ts';
import { withGenerated } from './specials.ts';
import { type Parts, split } from './split.ts';
import { mayNot, type Writing } from './step.ts';
import { updateEachRow, updateRows } from './update.ts';

interface Prepared {
  readonly keys: readonly Key[];
  readonly parts: Parts;
  /** What is written in the end, for those who listen. */
  readonly payload: Payload;
  /** The row rule; null where the rows were measured by it already. */
  readonly where: Restricted<Where> | null;
  /** What the row rule depends on: the fields asked for. */
  readonly asked: string;
  readonly above: RevisionSlot | null;
  readonly path: RowPath;
  /** One for each key. */
  readonly slots: readonly RevisionSlot[];
}

type WritableTarget = Target & { readonly key: Field };

/** Changes rows of one collection; answers the keys they are known by afterwards, for each change. */
export async function changeRows(
  work: Work,
  caller: Caller,
  name: string,
  changes: readonly Change[],
  last: boolean,
): Promise<Key[][]> {
  const { deps } = work;
  const target = await findWritable(deps.schema, name);
  // A listener may look at the rows, so it finds the changes before its own already made.
  const isHeard = eventNames(target.collection, 'update').some((event) => deps.events.has('filter', event));
  const rows = merged(target.collection, target.key, changes);
  const parts = isHeard ? rows.map((one) => [one]) : distinct(rows, target.key);
  const answer = changes.length === 1 ? changes[0]?.answer : undefined;
  const done: Key[][] = [];
  for (const [at, part] of parts.entries())
    done.push(...(await changeAll(work, caller, target, part, { last: last && at === parts.length - 1, answer })));
  return done;
}

/** Cut where a row is named again: its second change finds the first one made. */
function distinct(changes: readonly Change[], key: Field): readonly (readonly Change[])[] {
  const parts: Change[][] = [];
  let named = new Set<Key>();
  for (const change of changes) {
    const keys = change.keys.map((raw) => castKey(key, raw));
    if (parts.length === 0 || keys.some((one) => named.has(one))) {
      parts.push([]);
      named = new Set();
    }
    parts.at(-1)?.push(change);
    for (const one of keys) named.add(one);
  }
  return parts;
}

async function changeAll(
  work: Work,
  caller: Caller,
  target: WritableTarget,
  changes: readonly Change[],
  { last, answer }: Pick<Writing, 'last' | 'answer'>,
): Promise<Key[][]> {
  const { deps } = work;
  const { collection, key } = target;
  const prepare = preparer(work, caller, target);
  const prepared: Prepared[] = [];
  for (const change of changes) {
    const preparing = prepare(change).catch((error) => {
      throw under(change.path ?? [], error);
    });
    prepared.push(await preparing);
  }
  const rows = await admitFirst(work, caller, target, prepared);

  const hasRevisions = deps.activity.kept(collection) === 'all';
  const written = await writeOnes(
    work,
    caller,
    rows.map(({ parts, slots, path }) => ({ parts, above: hasRevisions ? (slots[0] ?? null) : null, path })),
  );
  const owns = written.map((own, at) => withoutSameKey(key, (rows[at] as Prepared).keys, own));
  const changed = owns.map((values, at) => ({ keys: (rows[at] as Prepared).keys, values }));
  await deps.access.assertAuthority(caller, collection.name, 'update', changed);
  const hasManys = rows.some(({ parts }) => parts.manys.length > 0);
  const groups = grouped(rows, owns, key);
  const done: Key[][] = [];
  for (const [at, group] of groups.entries()) {
    const isLast = last && !hasManys && at === groups.length - 1;
    const keys = await writeGroup(work, caller, target, group, { hasRevisions, last: isLast, answer });
    for (const [index, place] of group.places.entries()) done[place] = keys[index] as Key[];
  }
  await writeManys(
    work,
    caller,
    rows.flatMap(({ parts, slots, path }, at) =>
      (done[at] as Key[]).map((one, index) => ({
        manys: parts.manys,
        key: one,
        above: hasRevisions ? (slots[index] as RevisionSlot) : null,
        path,
        isNew: false,
      })),
    ),
  );
  for (const { keys, payload } of rows)
    deps.events.action(eventNames(collection, 'update'), { caller, collection: collection.name, keys, payload });
  return done;
}

/**
 * The row rule is about the rows as they are before anything of the request (conventions, 5). Where a nested row is
 * changed first, which the rule may speak of, it cannot wait for the statement. Rows under one rule are measured at once.
 */
async function admitFirst(
  { deps }: Work,
  caller: Caller,
  { collection, overview }: WritableTarget,
  rows: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const nested = new Set(rows.filter(({ parts, where }) => parts.ones.length > 0 && where !== null));
  for (const same of Map.groupBy(nested, ({ asked }) => asked).values()) {
    const condition = deps.query.condition((same[0] as Prepared).where as Restricted<Where>, caller, overview, 2);
    const keys = same.flatMap((row) => row.keys);
    if ((await lockedRows(deps.db, collection, keys, condition)) < keys.length) throw mayNot('updated', collection);
  }
  return nested.size === 0
    ? rows
    : rows.map((row) => (nested.has(row) ? { ...row, where: null, asked: `${row.asked}\nadmitted` } : row));
}

/** Everything that comes before the statement. Changes of the same fields share their row rule. */
function preparer({ deps, spend }: Work, caller: Caller, { collection, overview, key }: WritableTarget) {
  const rules = new Map<string, Restricted<Where>>();
  const values: RuleValues = new Map();
  const ruleFor = async (fields: readonly string[], asked: string): Promise<Restricted<Where>> => {
    const rule = rules.get(asked) ?? (await deps.access.restrictWrite(collection, 'update', fields, caller, overview));
    rules.set(asked, rule);
    return rule;
  };

  return async ({ keys: raw, payload, given: added = {}, above = null, path = [] }: Change): Promise<Prepared> => {
    const keys = [...new Set(raw.map((one) => castKey(key, one)))];
    spend(keys.length);
    const meta = { caller, collection: collection.name, keys };
    const given = withoutJoints(collection, added);
    const heard = await deps.events.filter(eventNames(collection, 'update'), { ...payload, ...given }, meta);
    const filtered = withoutJoints(collection, heard);
    const granted = withoutGrant(collection, given);
    const submitted = withoutFields(filtered, granted);
    const fields = Object.keys(submitted);
    const asked = fields.join('\0');
    const where = await ruleFor(fields, asked);
    const admitted = await deps.access.admit(collection, 'update', submitted, caller, overview, granted, values);
    const final = await withGenerated(collection, 'update', { ...admitted, ...given }, caller, deps.hash);
    assertSameKey(collection, keys, final);
    const parts = split(collection, final, overview);
    return { keys, parts, payload: final, where, asked, above, path, slots: keys.map(() => ({ id: null })) };
  };
}

interface Group {
  readonly rows: readonly Prepared[];
  readonly owns: readonly Payload[];
  /** Where the rows stand in the list of all. */
  readonly places: readonly number[];
}

/** Rows that set the same fields under the same rule: one statement does for them. One whose key changes is written alone. */
function grouped(rows: readonly Prepared[], owns: readonly Payload[], key: Field): readonly Group[] {
  const groups = new Map<string, { rows: Prepared[]; owns: Payload[]; places: number[] }>();
  for (const [at, row] of rows.entries()) {
    const own = owns[at] as Payload;
    const kind = setsKey(key, own) ? `${at}` : `${row.asked}\n${Object.keys(own).sort().join('\0')}\n`;
    const group = groups.get(kind) ?? { rows: [], owns: [], places: [] };
    groups.set(kind, group);
    group.rows.push(row);
    group.owns.push(own);
    group.places.push(at);
  }
  return [...groups.values()];
}

async function writeGroup(
  { deps }: Work,
  caller: Caller,
  { collection, overview, key }: WritableTarget,
  { rows, owns }: Group,
  { hasRevisions, last, answer }: { readonly hasRevisions: boolean } & Pick<Writing, 'last' | 'answer'>,
): Promise<Key[][]> {
  const [first] = rows as readonly [Prepared];
  const conditionAt = (at: number) =>
    first.where ? deps.query.condition(first.where, caller, overview, at) : { text: 'true', params: [] };
  const places = rows.flatMap(({ slots, above }) => slots.map((own) => ({ own, above })));
  const isAround = hasRevisions && rows.some(({ parts }) => parts.manys.length > 0);
  const isPlaced = isAround || (hasRevisions && places.some(({ own, above }) => above !== null || own.id !== null));
  const paths = rows.flatMap(({ keys, path }) => keys.map(() => path));
  const [own] = owns as readonly [Payload];
  // A foreign key that follows its row's new key does so after the statement, also where the row leads to itself.
  const isAnswered = last && rows.length === 1 && first.keys.length === 1 && !setsKey(key, own);
  const writing = {
    caller,
    collection,
    paths,
    isAround,
    last,
    ...(isPlaced ? { places } : {}),
    ...(isAnswered ? { answer } : {}),
  };
  if (rows.length === 1 || Object.keys(own).length === 0) {
    const done = await updateRows(
      deps,
      writing,
      rows.flatMap(({ keys }) => keys),
      own,
      conditionAt,
    );
    // Where the key itself is among the changes the rows are now known by their new keys.
    if (setsKey(key, own)) return [[...inOrderOf(first.keys, key, own, done)]];
    return collection.hasKey ? rows.map(({ keys }) => [...keys]) : [done];
  }
  const each = rows.flatMap(({ keys }, at) => keys.map((one) => ({ key: one, own: owns[at] as Payload })));
  await updateEachRow(deps, writing, each, conditionAt);
  return rows.map(({ keys }) => [...keys]);
}
