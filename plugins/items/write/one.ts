import type { Caller } from '#kernel';
import type { RevisionSlot } from '../../activity/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { castKey, findWritable } from '../target.ts';
import type { Inner, Work } from './inner.ts';
import { columnsOf, setColumns } from './joint.ts';
import { existingKeys } from './lookups.ts';
import { keyIn, withoutKey } from './row-key.ts';
import type { RowPath } from './row-path.ts';
import type { OnePart, Parts } from './split.ts';

interface Holder {
  readonly parts: Parts;
  readonly above: RevisionSlot | null;
  readonly path: RowPath;
}

/**
 * Writes the many-to-one (and many-to-any) objects of all rows of a level, those of one field at once, and answers each
 * row's own columns with the keys in them.
 */
export async function writeOnes(work: Work, caller: Caller, holders: readonly Holder[]): Promise<Payload[]> {
  const owns = holders.map(({ parts }) => ({ ...parts.own }));
  const groups = new Map<string, { part: OnePart; at: number }[]>();
  for (const [at, { parts }] of holders.entries()) {
    for (const part of parts.ones) {
      const name = `${part.field.name}\0${part.to}`;
      const group = groups.get(name);
      if (group) group.push({ part, at });
      else groups.set(name, [{ part, at }]);
    }
  }
  for (const group of groups.values()) {
    const { field, to } = (group[0] as { part: OnePart }).part;
    const rows = group.map(({ part, at }) => {
      const { above, path } = holders[at] as Holder;
      return { value: part.value, above, path: [...path, field.name] };
    });
    const keys = await upsertRows(work.deps, work.inner, caller, to, rows);
    for (const [index, { at }] of group.entries()) {
      const own = owns[at] as Payload;
      if (field.parts) setColumns(field, columnsOf(field, keys[index]), own);
      else own[field.name] = field.relation?.kind === 'any' ? String(keys[index]) : keys[index];
    }
  }
  return owns;
}

export interface Upsert {
  readonly value: Payload;
  readonly above: RevisionSlot | null;
  readonly path: RowPath;
  readonly given?: Payload;
}

/**
 * Objects with or without keys (specification, "Relational write shapes"): without one it is created, with a key alone
 * linked, with more updated; where there is no such row it is created under that key. Answers the keys.
 */
export async function upsertRows(
  deps: Deps,
  inner: Inner,
  caller: Caller,
  name: string,
  rows: readonly Upsert[],
): Promise<Key[]> {
  const { collection, key, overview } = await findWritable(deps.schema, name);
  const known = rows.map(({ value, given }) => {
    const named = keyIn(key, key.parts ? { ...given, ...value } : value, overview);
    return named === undefined ? undefined : castKey(key, named);
  });
  const asked = [...new Set(known.filter((one) => one !== undefined))];
  const there = new Map(await existingKeys(deps.db, collection, asked));
  const creates: number[] = [];
  const updates: number[] = [];
  for (const [at, own] of known.entries()) {
    if (own !== undefined && there.has(String(own))) updates.push(at);
    else {
      creates.push(at);
      // The same row once more is the one that was just created.
      if (own !== undefined) there.set(String(own), own);
    }
  }
  const keys = known.map((own) => there.get(String(own)) ?? own) as Key[];
  if (creates.length > 0) {
    const entries = creates.map((at) => rows[at] as Upsert).map(({ value, ...rest }) => ({ payload: value, ...rest }));
    const made = await inner.create(caller, name, entries);
    for (const [index, at] of creates.entries()) keys[at] = made[index] as Key;
  }
  const changes = updates.flatMap((at) => {
    const { value, ...rest } = rows[at] as Upsert;
    const payload = withoutKey(key, value);
    return Object.keys(payload).length > 0 || rest.given ? [{ keys: [keys[at]], payload, ...rest }] : [];
  });
  if (changes.length > 0) await inner.update(caller, name, changes);
  return keys;
}
