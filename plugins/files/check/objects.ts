import type { Db } from '../../database/contract.ts';
import type { Location, StoredObject } from '../../storage/contract.ts';
import { stemOf } from '../disk-names.ts';
import { type Known, lookUp } from './lookup.ts';

const BATCH = 500;

/**
 * `file`: of a row. `variant`: made of a row's object. `loose`: in the ledger, so that the janitor sees to it. `stray`: ours by its
 * name, and nothing knows of it. `orphan`: made of what is gone. `foreign`: not ours by its name.
 */
export type Kind = 'file' | 'variant' | 'loose' | 'stray' | 'orphan' | 'foreign';

export interface Judged {
  readonly object: StoredObject;
  readonly kind: Kind;
  /** Bytes that the row speaks of, where these are others. */
  readonly expected?: number;
}

/** Every object of a location, with what it is. */
export async function* judgedObjects(db: Db, location: Location): AsyncGenerator<Judged> {
  const batch: StoredObject[] = [];
  for await (const object of location.list('')) {
    batch.push(object);
    if (batch.length >= BATCH) yield* await judged(db, location, batch.splice(0));
  }
  yield* await judged(db, location, batch);
}

/** The same of one object, as things are now; undefined where it is gone. */
export async function judgeAgain(db: Db, location: Location, name: string): Promise<Judged | undefined> {
  const object = await location.stat(name);
  return object && (await judged(db, location, [object]))[0];
}

async function judged(db: Db, location: Location, objects: readonly StoredObject[]): Promise<readonly Judged[]> {
  if (objects.length === 0) return [];
  const known = await lookUp(
    db,
    location.name,
    objects.map(({ name }) => name),
  );
  return objects.map((object) => judge(object, known));
}

function judge(object: StoredObject, known: Known): Judged {
  const { name, size } = object;
  const expected = known.files.get(name);
  if (expected !== undefined)
    return { object, kind: 'file', ...(expected === null || expected === size ? {} : { expected }) };
  if (known.loose.has(name)) return { object, kind: 'loose' };
  const stem = stemOf(name);
  if (stem === undefined) return { object, kind: 'foreign' };
  if (!name.includes('__')) return { object, kind: 'stray' };
  return { object, kind: known.stems.has(stem) ? 'variant' : 'orphan' };
}
