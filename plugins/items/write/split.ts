import { fail } from '#kernel';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field, Overview, RelationEnd } from '../../schema/contract.ts';
import { isMadeByDatabase } from '../../schema/library.ts';
import type { Payload } from '../contract.ts';
import { castKey, keyField } from '../target.ts';
import { isPayload, type ManyValue, manyValue } from './many-value.ts';
import { keyNames } from './row-key.ts';

/** A payload taken apart by where each value goes. */
export interface Parts {
  /** Columns of the row itself. */
  readonly own: Payload;
  /** Many-to-one and many-to-any fields that came as objects: written first, since the row needs their keys. */
  readonly ones: readonly OnePart[];
  /** To-many aliases: written last, since their rows need this row's key. */
  readonly manys: readonly ManyPart[];
}

export interface OnePart {
  readonly field: Field;
  /** The collection of the object. */
  readonly to: string;
  readonly value: Payload;
}

export interface ManyPart {
  readonly field: Field;
  readonly value: ManyValue;
}

export function split(collection: Collection, payload: Payload, overview: Overview): Parts {
  const own: Payload = {};
  const ones: OnePart[] = [];
  const manys: ManyPart[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const field = collection.fields.get(name);
    if (!field) continue;
    const { relation } = field;
    // The key of a row that is sent back whole is no change: it is taken out where the row is known.
    if (field.column && isMadeByDatabase(field.column) && !isOfKey(collection, name)) assertAbsent(field, value);
    else if (relation?.kind === 'many')
      manys.push({ field, value: manyValue(field, rowKeyOf(overview, relation), value) });
    else if (field.parts && isPayload(value))
      ones.push({ field, to: (relation as RelationEnd & { kind: 'one' }).to, value });
    else if (!field.column) continue;
    else if (relation?.kind === 'one' && isPayload(value)) ones.push({ field, to: relation.to, value });
    else if (relation?.kind === 'any' && value !== null) {
      const to = targetOf(collection, field, payload, isPayload(value));
      if (isPayload(value)) ones.push({ field, to: to as string, value });
      else own[name] = to === undefined ? value : anyKey(overview, field, to, value);
    } else own[name] = value;
  }
  checkNamed(collection, payload);
  return { own, ones, manys };
}

/** The columns that name a row behind a to-many alias: those of its key, but for what leads to the parent. */
function rowKeyOf(overview: Overview, { to, relation }: Extract<RelationEnd, { kind: 'many' }>): readonly string[] {
  const collection = overview.collections.get(to);
  const link = collection?.fields.get(relation.field);
  const linked = (link?.parts ?? [link]).map((field) => field?.name);
  return collection?.key ? keyNames(collection.key).filter((name) => !linked.includes(name)) : [];
}

const isOfKey = (collection: Collection, name: string): boolean =>
  keyColumns(collection).some((column) => column.name === name);

/** Null is what a form sends for a value that it does not have. */
function assertAbsent(field: Field, value: unknown): void {
  if (value !== null && value !== undefined) throw invalid(field, 'is made by the database: leave it out');
}

const invalid = (field: Field, reason: string) =>
  fail('INVALID_PAYLOAD', `${field.name} ${reason}`, { field: field.name, path: [field.name] });

/** The collection that a many-to-any leads to, which the payload names beside it. */
function targetOf(collection: Collection, field: Field, payload: Payload, isNeeded: boolean): string | undefined {
  if (field.relation?.kind !== 'any') return undefined;
  const { by, allowed } = field.relation;
  const named = payload[by];
  if (named === undefined || named === null) {
    if (isNeeded) throw invalid(field, `needs its collection in "${by}"`);
    return undefined;
  }
  return allowedOne(collection, by, allowed, named);
}

function allowedOne(collection: Collection, by: string, allowed: readonly string[], named: unknown): string {
  if (typeof named === 'string' && allowed.includes(named)) return named;
  // Without the names of those that are: the caller may not know them.
  throw fail('INVALID_PAYLOAD', `${by} does not name a collection that this relation leads to`, {
    collection: collection.name,
    field: by,
    path: [by],
  });
}

/** Keys of several types share one column of texts, so each is brought into the one form its own collection has. */
function anyKey(overview: Overview, field: Field, to: string, value: unknown): unknown {
  const target = overview.collections.get(to);
  if (!target) throw invalid(field, `leads to ${to}, which is not there`);
  try {
    return String(castKey(keyField(target), value));
  } catch {
    throw invalid(field, `must be a key of ${to}`);
  }
}

/** A change of the named collection alone is a change of what the key means, and held to the same list. */
function checkNamed(collection: Collection, payload: Payload): void {
  for (const { relation } of collection.fields.values()) {
    if (relation?.kind !== 'any') continue;
    const named = payload[relation.by];
    if (named !== undefined && named !== null) allowedOne(collection, relation.by, relation.allowed, named);
  }
}
