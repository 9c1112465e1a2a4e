import { createHash } from 'node:crypto';
import { renderRowKey } from './keys.ts';
import { PERMISSION_TEST_MODEL } from './permission-test-collections.ts';
import type { PermissionTestModel, PermissionTestRow, PermissionTestRowsByCollection } from './reference-types.ts';

/**
 * Signatures of rows, for comparing the tables with the reference after a write. The database and the reference number new rows
 * differently, so a new row is identified by its values and its relations.
 */
export interface RowSignatures {
  /** The signatures of all rows, sorted. */
  readonly all: readonly string[];
  of(collection: string, key: unknown): string;
}

export function buildRowSignatures(
  rows: PermissionTestRowsByCollection,
  before: PermissionTestRowsByCollection,
): RowSignatures {
  const idOf = (name: string, row: PermissionTestRow) =>
    renderRowKey(PERMISSION_TEST_MODEL[name] as PermissionTestModel[string], row);
  const known = new Map(
    Object.entries(before).map(([name, all]) => [name, new Set(all.map((row) => idOf(name, row)))]),
  );
  const isNew = (collection: string, key: unknown) => key !== null && !known.get(collection)?.has(key as never);
  let marks = new Map<PermissionTestRow, string>();
  const at = new Map<string, PermissionTestRow>();
  for (const [name, all] of Object.entries(rows)) for (const row of all) at.set(`${name} ${idOf(name, row)}`, row);
  const markOf = (collection: string, key: unknown): unknown => {
    const row = isNew(collection, key) ? at.get(`${collection} ${key}`) : undefined;
    return row ? `new ${marks.get(row) ?? ''}` : key;
  };
  const text = (name: string, row: PermissionTestRow): string => {
    const { manyToOne } = PERMISSION_TEST_MODEL[name] as PermissionTestModel[string];
    const columns = Object.entries(row).map(([field, value]) => [
      field,
      manyToOne[field]
        ? markOf(manyToOne[field], value)
        : field === 'id' && isNew(name, value) && Number(value) > 999
          ? 'new'
          : value,
    ]);
    return JSON.stringify([name, ...columns.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))]);
  };
  // Each round adds to the signatures of new rows the related new rows that are one relation further away.
  for (let round = 0; round < 4; round++) {
    const incoming = new Map<string, string[]>();
    for (const [name, all] of Object.entries(rows)) {
      for (const row of all) {
        for (const [field, to] of Object.entries(
          (PERMISSION_TEST_MODEL[name] as PermissionTestModel[string]).manyToOne,
        )) {
          if (!isNew(to, row[field] ?? null)) continue;
          const key = `${to} ${row[field]}`;
          incoming.set(key, [
            ...(incoming.get(key) ?? []),
            `${name} ${field} ${isNew(name, idOf(name, row)) ? marks.get(row) : idOf(name, row)}`,
          ]);
        }
      }
    }
    const next = new Map<PermissionTestRow, string>();
    for (const [name, all] of Object.entries(rows)) {
      for (const row of all) {
        if (!isNew(name, idOf(name, row))) continue;
        const ties = (incoming.get(`${name} ${idOf(name, row)}`) ?? []).sort();
        next.set(
          row,
          createHash('sha1')
            .update(JSON.stringify([text(name, row), ties]))
            .digest('hex')
            .slice(0, 12),
        );
      }
    }
    marks = next;
  }
  const all = Object.entries(rows).flatMap(([name, list]) => list.map((row) => text(name, row)));
  return {
    all: all.sort(),
    of: (collection, key) => {
      const row = at.get(`${collection} ${key}`);
      return row ? (marks.get(row) ?? String(key)) : 'none';
    },
  };
}

/** The names of the collections whose rows differ between two states. */
export const changedCollections = (
  before: PermissionTestRowsByCollection,
  after: PermissionTestRowsByCollection,
): readonly string[] =>
  Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Rounds fractions to nine digits, since averages are exact only in PostgreSQL. */
export const roundNumbers = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one) =>
    typeof one === 'number' && !Number.isInteger(one) ? Number(one.toPrecision(9)) : one,
  );
