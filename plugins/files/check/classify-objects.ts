import type { Db } from '../../database/contract.ts';
import type { StorageLocation, StorageObjectStat } from '../../storage/contract.ts';
import { parseObjectNameStem } from '../object-names.ts';
import { lookUpObjectsInDatabase, type ObjectsKnownToDatabase } from './known-objects.ts';

const BATCH = 500;

/**
 * `file`: a row names it. `variant`: made of the object of a row. `orphan`: in the ledger, so the janitor removes it. `stray`: has the
 * form of our names, and no table names it. `strayVariant`: made of an object that is gone. `foreign`: another form of name.
 */
export type StoredObjectKind = 'file' | 'variant' | 'orphan' | 'stray' | 'strayVariant' | 'foreign';

export interface ClassifiedObject {
  readonly object: StorageObjectStat;
  readonly kind: StoredObjectKind;
  /** Bytes that the row says, if the object has another length. */
  readonly expected?: number;
}

/** Every object of a location, with its kind. */
export async function* classifyObjects(db: Db, location: StorageLocation): AsyncGenerator<ClassifiedObject> {
  const batch: StorageObjectStat[] = [];
  for await (const object of location.list('')) {
    batch.push(object);
    if (batch.length >= BATCH) yield* await classifyBatch(db, location, batch.splice(0));
  }
  yield* await classifyBatch(db, location, batch);
}

/** Classifies one object again; undefined if it is gone. */
export async function reclassifyStoredObject(
  db: Db,
  location: StorageLocation,
  name: string,
): Promise<ClassifiedObject | undefined> {
  const object = await location.stat(name);
  return object && (await classifyBatch(db, location, [object]))[0];
}

async function classifyBatch(
  db: Db,
  location: StorageLocation,
  objects: readonly StorageObjectStat[],
): Promise<readonly ClassifiedObject[]> {
  if (objects.length === 0) return [];
  const known = await lookUpObjectsInDatabase(
    db,
    location.name,
    objects.map(({ name }) => name),
  );
  return objects.map((object) => classify(object, known));
}

function classify(object: StorageObjectStat, known: ObjectsKnownToDatabase): ClassifiedObject {
  const { name, size } = object;
  const expected = known.files.get(name);
  if (expected !== undefined)
    return { object, kind: 'file', ...(expected === null || expected === size ? {} : { expected }) };
  if (known.orphans.has(name)) return { object, kind: 'orphan' };
  const stem = parseObjectNameStem(name);
  if (stem === undefined) return { object, kind: 'foreign' };
  if (!name.includes('__')) return { object, kind: 'stray' };
  return { object, kind: known.stems.has(stem) ? 'variant' : 'strayVariant' };
}
