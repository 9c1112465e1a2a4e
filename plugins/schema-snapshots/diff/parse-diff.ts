import { fail } from '#kernel';
import {
  type Difference,
  type EntryDiff,
  type FieldRename,
  type HashedDiff,
  type JsonObject,
  type PartEntryDiff,
  SNAPSHOT_PARTS,
  type SnapshotDiff,
} from '../contract.ts';

type Path = readonly (string | number)[];

const invalid = (reason: string, path: Path) => fail('INVALID_PAYLOAD', reason, { path });

/** Parses what `POST /schema/diff` has answered. @throws INVALID_PAYLOAD with the path of the first wrong entry */
export function parseHashedDiff(value: unknown): HashedDiff {
  const body = requireObject(value, []);
  if (typeof body.hash !== 'string' || body.hash === '') throw invalid('"hash" is required.', ['hash']);
  const diff = requireObject(body.diff, ['diff']);
  const list = (name: string, needsField: boolean) =>
    diff[name] === undefined
      ? []
      : parseList(diff[name], ['diff', name], (entry, path) => parseEntry(entry, path, needsField));
  const parts = SNAPSHOT_PARTS.filter((name) => diff[name] !== undefined).map((name) => [
    name,
    parseList(diff[name], ['diff', name], parsePartEntry),
  ]);
  const renames = body.renames === undefined ? [] : parseList(body.renames, ['renames'], parseRename);
  return {
    hash: body.hash,
    diff: {
      collections: list('collections', false),
      fields: list('fields', true),
      systemFields: list('systemFields', true),
      relations: list('relations', true),
      ...(Object.fromEntries(parts) as Partial<SnapshotDiff>),
    },
    ...(renames.length > 0 ? { renames } : {}),
  };
}

/** Whether there is nothing to do. */
export const isEmptyDiff = ({ diff, renames = [] }: HashedDiff): boolean =>
  renames.length === 0 && Object.values(diff).every((list: readonly unknown[]) => list.length === 0);

function requireObject(value: unknown, path: Path): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${path.length > 0 ? `"${path.join('.')}"` : 'The body'} must be an object.`, path);
  return value as JsonObject;
}

function parseList<T>(value: unknown, path: Path, parse: (entry: JsonObject, path: Path) => T): readonly T[] {
  if (!Array.isArray(value)) throw invalid(`"${path.join('.')}" must be a list.`, path);
  return value.map((one, at) => parse(requireObject(one, [...path, at]), [...path, at]));
}

function requireText(entry: JsonObject, name: string, path: Path): string {
  const value = entry[name];
  if (typeof value !== 'string' || value === '') throw invalid(`"${name}" must be a text.`, [...path, name]);
  return value;
}

function parseEntry(entry: JsonObject, path: Path, needsField: boolean): EntryDiff {
  return {
    collection: requireText(entry, 'collection', path),
    ...(needsField ? { field: requireText(entry, 'field', path) } : {}),
    diff: parseDifferences(entry, path),
  };
}

const parsePartEntry = (entry: JsonObject, path: Path): PartEntryDiff => ({
  id: requireText(entry, 'id', path),
  diff: parseDifferences(entry, path),
});

function parseDifferences(entry: JsonObject, path: Path): readonly Difference[] {
  const at = [...path, 'diff'];
  const found = parseList(entry.diff, at, parseDifference);
  if (found.length === 0) throw invalid('"diff" is empty.', at);
  return found;
}

function parseDifference(value: JsonObject, path: Path): Difference {
  const { kind, path: place, index, item } = value;
  if (kind !== 'N' && kind !== 'D' && kind !== 'E' && kind !== 'A')
    throw invalid('"kind" must be one of N, D, E, A.', [...path, 'kind']);
  if (place !== undefined && !(Array.isArray(place) && place.length > 0 && place.every(isStep)))
    throw invalid('"path" must be a list of names and positions.', [...path, 'path']);
  if (kind !== 'N' && kind !== 'D' && place === undefined)
    throw invalid('"path" is required for this kind.', [...path, 'path']);
  if (kind === 'A' && !(Number.isInteger(index) && (index as number) >= 0 && (index as number) < 10_000))
    throw invalid('"index" must be a position.', [...path, 'index']);
  if ((kind === 'N' || kind === 'E') && value.rhs === undefined) throw invalid('"rhs" is required.', [...path, 'rhs']);
  return {
    kind,
    ...(place === undefined ? {} : { path: place as Path }),
    ...(Object.hasOwn(value, 'lhs') ? { lhs: value.lhs } : {}),
    ...(Object.hasOwn(value, 'rhs') ? { rhs: value.rhs } : {}),
    ...(kind === 'A'
      ? { index: index as number, item: parseDifference(requireObject(item, [...path, 'item']), [...path, 'item']) }
      : {}),
  };
}

const isStep = (step: unknown): boolean => typeof step === 'string' || Number.isInteger(step);

const parseRename = (entry: JsonObject, path: Path): FieldRename => ({
  collection: requireText(entry, 'collection', path),
  from: requireText(entry, 'from', path),
  to: requireText(entry, 'to', path),
});
