import { fail } from '#kernel';
import type { RevisionSlot } from '../../activity/contract.ts';
import type { Collection, Field, Overview } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { castKey } from '../target.ts';
import { withoutJoints } from './joint.ts';
import { isPayload, type ManyValue } from './many-value.ts';
import type { Upsert } from './one.ts';
import { keyIn, withoutKey } from './row-key.ts';
import type { RowPath } from './row-path.ts';

/** A parent and its value for the alias at hand. */
export interface Holder {
  readonly value: ManyValue;
  readonly key: Key;
  readonly above: RevisionSlot | null;
  readonly path: RowPath;
  /** Just created: nothing can lead to it yet. */
  readonly isNew: boolean;
}

/** The alias, the key of the rows behind it, and which of them led to each parent before. */
export interface Many {
  readonly field: Field;
  readonly to: Collection;
  readonly key: Field;
  readonly link: Field;
  readonly overview: Overview;
  readonly before: (holder: Holder) => readonly Key[];
  /** The keys of rows that are there, by the texts of those that were sent, where these may differ. */
  readonly stored?: ReadonlyMap<string, Key>;
}

/** What one parent's value asks for. `stays` are keys of rows that lead to it afterwards, as texts. */
export interface ManyPlan {
  readonly holder: Holder;
  readonly given: Payload;
  readonly create: readonly Payload[];
  readonly upsert: readonly Upsert[];
  /** Rows to be taken over by their key alone. */
  readonly take: readonly Key[];
  readonly remove: readonly Key[];
  readonly stays: Set<string>;
}

export function planMany(many: Many, holder: Holder): ManyPlan {
  const given = withoutJoints(many.to, { [many.link.name]: holder.key });
  const row = (value: Payload, ...place: RowPath): Upsert => ({
    ...{ value, given, above: holder.above },
    path: [...holder.path, many.field.name, ...place],
  });
  const { value } = holder;
  if (value.kind === 'list') return { holder, given, ...planList(many, holder, value.entries, given, row) };
  const { create, update } = value;
  const remove = removed(many, holder, value.remove);
  return {
    holder,
    given,
    create,
    upsert: update.map((value, at) => row(value, 'update', at)),
    take: [],
    remove,
    stays: new Set(),
  };
}

type Entry = Payload | string | number;

/** The key that an entry of a list names; undefined for a row without one. */
const namedBy = ({ key, overview }: Pick<Many, 'key' | 'overview'>, entry: Entry, given: Payload): unknown =>
  isPayload(entry) ? keyIn(key, key.parts ? { ...given, ...entry } : entry, overview) : entry;

/** All keys that the value of a parent names. */
export function namedKeys(many: Omit<Many, 'before' | 'stored'>, { value, key: parent }: Holder): readonly Key[] {
  const given = withoutJoints(many.to, { [many.link.name]: parent });
  const raw = value.kind === 'list' ? value.entries.map((entry) => namedBy(many, entry, given)) : value.remove;
  return raw.flatMap((one) => (one === undefined ? [] : castKey(many.key, one)));
}

const storedKey = ({ key, stored }: Many, raw: unknown): Key => {
  const own = castKey(key, raw);
  return stored?.get(String(own)) ?? own;
};

function planList(
  many: Many,
  holder: Holder,
  entries: readonly Entry[],
  given: Payload,
  row: (value: Payload, ...place: RowPath) => Upsert,
): Pick<ManyPlan, 'create' | 'upsert' | 'take' | 'remove' | 'stays'> {
  const { key, before } = many;
  const linked = new Set(before(holder).map(String));
  const stays = new Set<string>();
  const upsert: Upsert[] = [];
  const take = new Set<Key>();
  for (const [at, entry] of entries.entries()) {
    const named = namedBy(many, entry, given);
    const isAlone = named !== undefined && (!isPayload(entry) || Object.keys(withoutKey(key, entry)).length === 0);
    if (isPayload(entry) && !isAlone) {
      upsert.push(row(entry, at));
      continue;
    }
    const own = storedKey(many, named);
    stays.add(String(own));
    if (linked.has(String(own))) continue;
    // As an object it may be a row yet to be created under this key.
    if (isPayload(entry)) upsert.push(row(entry, at));
    else take.add(own);
  }
  return { create: [], upsert, take: [...take], remove: before(holder), stays };
}

function removed(many: Many, holder: Holder, raw: readonly unknown[]): readonly Key[] {
  const mine = new Set(many.before(holder).map(String));
  const keys = raw.map((one) => storedKey(many, one));
  if (keys.some((one) => !mine.has(String(one))))
    throw fail('FORBIDDEN', `a row to remove from ${many.field.name} is not among its rows`);
  return keys;
}

/** The rows each parent lets go: those left out, but for the ones another parent took over in the same request. */
export function released(
  plans: readonly ManyPlan[],
): readonly { readonly holder: Holder; readonly keys: readonly Key[] }[] {
  const owners = new Map<string, ManyPlan>();
  for (const plan of plans) for (const key of plan.stays) owners.set(key, plan);
  return plans.flatMap((plan) => {
    const keys = plan.remove.filter((key) => !owners.has(String(key)));
    return keys.length > 0 ? [{ holder: plan.holder, keys }] : [];
  });
}
