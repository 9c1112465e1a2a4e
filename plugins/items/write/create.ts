import type { Caller } from '#kernel';
import type { RuleValues } from '../../access/contract.ts';
import type { RevisionSlot } from '../../activity/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { eventNames } from '../names.ts';
import { findWritable, type Target } from '../target.ts';
import { withoutFields, withoutGrant } from './given.ts';
import type { Entry, Work } from './inner.ts';
import { insertRows } from './insert.ts';
import { withoutJoints } from './joint.ts';
import { writeManys } from './many.ts';
import { writeOnes } from './one.ts';
import { type RowPath, under } from './row-path.ts';
import { withGenerated } from './specials.ts';
import { type Parts, split } from './split.ts';

interface Row {
  readonly parts: Parts;
  /** What is written in the end, for those who listen. */
  readonly payload: Payload;
  readonly above: RevisionSlot | null;
  readonly own: RevisionSlot;
}

/** Creates rows of one collection; answers their keys in the order given. */
export async function createRows(
  work: Work,
  caller: Caller,
  name: string,
  entries: readonly Entry[],
  last: boolean,
): Promise<Key[]> {
  const { deps } = work;
  work.spend(entries.length);
  const target = await findWritable(deps.schema, name);
  const { collection } = target;
  const rows: Row[] = [];
  const values: RuleValues = new Map();
  for (const entry of entries) rows.push(await prepared(work, caller, target, entry, values));
  const paths = entries.map(({ path = [] }) => path);

  const hasRevisions = deps.activity.kept(collection) === 'all';
  const inside = (row: Row) => (hasRevisions ? row.own : null);
  const owns = await writeOnes(
    work,
    caller,
    rows.map((row, at) => ({ parts: row.parts, above: inside(row), path: paths[at] as RowPath })),
  );
  const created = owns.map((values) => ({ keys: [], values }));
  await deps.access.assertAuthority(caller, collection.name, 'create', created);
  const isAround = hasRevisions && rows.some(({ parts }) => parts.manys.length > 0);
  const isPlaced = isAround || (hasRevisions && rows.some(({ above, own }) => above !== null || own.id !== null));
  const isLast = last && rows.every(({ parts }) => parts.manys.length === 0);
  const keys = await insertRows(
    deps,
    {
      caller,
      collection,
      paths,
      isAround,
      ...(isPlaced ? { places: rows } : {}),
      last: isLast,
      ...(isLast && entries.length === 1 ? { answer: entries[0]?.answer } : {}),
    },
    owns,
  );
  await writeManys(
    work,
    caller,
    rows.map((row, at) => ({
      manys: row.parts.manys,
      key: keys[at] as Key,
      above: inside(row),
      path: paths[at] as RowPath,
      isNew: true,
    })),
  );
  for (const [at, { payload }] of rows.entries())
    deps.events.action(eventNames(collection, 'create'), { caller, collection: name, payload, key: keys[at] });
  return keys;
}

async function prepared(work: Work, caller: Caller, target: Target, entry: Entry, values: RuleValues): Promise<Row> {
  try {
    return await preparedRow(work, caller, target, entry, values);
  } catch (error) {
    throw under(entry.path ?? [], error);
  }
}

async function preparedRow(
  { deps }: Work,
  caller: Caller,
  { collection, overview }: Target,
  { payload, given: added = {}, above = null }: Entry,
  values: RuleValues,
): Promise<Row> {
  const given = withoutJoints(collection, added);
  const granted = withoutGrant(collection, given);
  const meta = { caller, collection: collection.name };
  const heard = await deps.events.filter(eventNames(collection, 'create'), { ...payload, ...given }, meta);
  const filtered = withoutJoints(collection, heard);
  const submitted = withoutFields(filtered, granted);
  const admitted = await deps.access.admit(collection, 'create', submitted, caller, overview, granted, values);
  const final = await withGenerated(collection, 'create', { ...admitted, ...given }, caller, deps.hash);
  return { parts: split(collection, final, overview), payload: final, above, own: { id: null } };
}
