import { fail, VERSION } from '#kernel';
import {
  type CollectionEntry,
  type FieldEntry,
  type JsonObject,
  type RelationEntry,
  type SchemaSnapshotDocument,
  SNAPSHOT_PARTS,
  type SnapshotParts,
  type SystemFieldEntry,
} from '../contract.ts';
import { completeCollection, completeField, completeRelation } from './complete-entries.ts';
import { releaseOf } from './hash.ts';

type Path = readonly (string | number)[];

const invalid = (reason: string, path: Path = []) => fail('INVALID_PAYLOAD', reason, path.length > 0 ? { path } : {});

/**
 * Parses a snapshot, and completes its entries. `force` accepts a snapshot of another version or another database system.
 * @throws INVALID_PAYLOAD with the path of the first wrong entry
 */
export function parseSnapshot(value: unknown, { force = false } = {}): SchemaSnapshotDocument {
  const document = requireObject(value, 'A snapshot', []);
  if (document.version !== 1 && document.version !== 2) throw invalid('"version" must be 1 or 2.', ['version']);
  if (!force) assertSameService(document);
  const parts = Object.fromEntries(
    SNAPSHOT_PARTS.filter((name) => document[name] !== undefined).map((name) => [
      name,
      parseList(document, name, (record) => record),
    ]),
  ) as SnapshotParts;
  const snapshot = {
    version: document.version,
    tenon: VERSION,
    vendor: 'postgres',
    collections: parseList(document, 'collections', parseCollectionEntry),
    fields: parseList(document, 'fields', parseFieldEntry),
    systemFields: document.systemFields === undefined ? [] : parseList(document, 'systemFields', parseSystemFieldEntry),
    relations: parseList(document, 'relations', parseRelationEntry),
    ...parts,
  } as const;
  for (const name of ['collections', 'fields', 'systemFields', 'relations'] as const)
    assertUnique(name, snapshot[name]);
  return snapshot;
}

function assertSameService({ tenon, vendor }: JsonObject): void {
  if (vendor !== 'postgres')
    throw invalid(`The snapshot is of "${String(vendor)}" and not of "postgres": "force" ignores that.`, ['vendor']);
  if (typeof tenon !== 'string' || releaseOf(tenon) !== releaseOf(VERSION))
    throw invalid(
      `The snapshot is of version ${String(tenon)} and the service has version ${VERSION}: "force" ignores that.`,
      ['tenon'],
    );
}

function requireObject(value: unknown, label: string, path: Path): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${label} must be an object.`, path);
  return value as JsonObject;
}

function parseList<T>(document: JsonObject, name: string, parse: (value: JsonObject, path: Path) => T): readonly T[] {
  const list = document[name];
  if (!Array.isArray(list)) throw invalid(`"${name}" must be a list.`, [name]);
  return list.map((one, at) => parse(requireObject(one, `An entry of "${name}"`, [name, at]), [name, at]));
}

function requireText(entry: JsonObject, name: string, path: Path): string {
  const value = entry[name];
  if (typeof value !== 'string' || value === '') throw invalid(`"${name}" must be a text.`, [...path, name]);
  return value;
}

/** A member that is an object or null; undefined is null. */
function optionalObject(entry: JsonObject, name: string, path: Path): JsonObject | null {
  const value = entry[name] ?? null;
  return value === null ? null : requireObject(value, `"${name}"`, [...path, name]);
}

export function parseCollectionEntry(entry: JsonObject, path: Path): CollectionEntry {
  const collection = requireText(entry, 'collection', path);
  return completeCollection({
    collection,
    meta: optionalObject(entry, 'meta', path),
    schema: optionalObject(entry, 'schema', path),
  });
}

export function parseFieldEntry(entry: JsonObject, path: Path): FieldEntry {
  return completeField({
    collection: requireText(entry, 'collection', path),
    field: requireText(entry, 'field', path),
    type: requireText(entry, 'type', path),
    meta: optionalObject(entry, 'meta', path),
    schema: optionalObject(entry, 'schema', path),
  });
}

function parseSystemFieldEntry(entry: JsonObject, path: Path): SystemFieldEntry {
  const isIndexed = optionalObject(entry, 'schema', path)?.is_indexed;
  if (typeof isIndexed !== 'boolean')
    throw invalid('"is_indexed" must be true or false.', [...path, 'schema', 'is_indexed']);
  return {
    collection: requireText(entry, 'collection', path),
    field: requireText(entry, 'field', path),
    schema: { is_indexed: isIndexed },
  };
}

export function parseRelationEntry(entry: JsonObject, path: Path): RelationEntry {
  const related = entry.related_collection ?? null;
  if (related !== null && typeof related !== 'string')
    throw invalid('"related_collection" must be a text or null.', [...path, 'related_collection']);
  return completeRelation({
    collection: requireText(entry, 'collection', path),
    field: requireText(entry, 'field', path),
    related_collection: related,
    meta: optionalObject(entry, 'meta', path),
    // A relation without a word about its foreign key has the usual one.
    schema: entry.schema === undefined && related !== null ? {} : optionalObject(entry, 'schema', path),
  });
}

function assertUnique(
  list: string,
  entries: readonly { readonly collection: string; readonly field?: string }[],
): void {
  const seen = new Set<string>();
  for (const [at, { collection, field }] of entries.entries()) {
    const key = `${collection}\0${field ?? ''}`;
    if (seen.has(key))
      throw invalid(`"${collection}${field === undefined ? '' : `.${field}`}" is listed twice.`, [list, at]);
    seen.add(key);
  }
}
