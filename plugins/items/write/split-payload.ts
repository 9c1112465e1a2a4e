import { fail } from '#kernel';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field, RelationEnd, SchemaOverview } from '../../schema/contract.ts';
import { isDatabaseGenerated } from '../../schema/library.ts';
import type { Payload } from '../contract.ts';
import { parseKeyValue, requireKeyField } from '../find-collection-and-key.ts';
import { keyColumnNames } from './row-key.ts';
import { isPayload, parseToManyValue, type ToManyValue } from './to-many-value.ts';

/** A payload, split by where each value is written. */
export interface SplitPayload {
  /** Columns of the row itself. */
  readonly columns: Payload;
  /** Many-to-one and many-to-any fields with objects: written first, since the row needs their keys. */
  readonly toOne: readonly ToOnePayloadPart[];
  /** To-many aliases: written last, since their rows need this row's key. */
  readonly toMany: readonly ToManyPayloadPart[];
}

export interface ToOnePayloadPart {
  readonly field: Field;
  /** The collection of the object. */
  readonly to: string;
  readonly value: Payload;
}

export interface ToManyPayloadPart {
  readonly field: Field;
  readonly value: ToManyValue;
}

export function splitPayloadByRelation(
  collection: Collection,
  payload: Payload,
  schemaSnapshot: SchemaOverview,
): SplitPayload {
  const columns: Payload = {};
  const toOne: ToOnePayloadPart[] = [];
  const toMany: ToManyPayloadPart[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const field = collection.fields.get(name);
    if (!field) continue;
    const { relation } = field;
    // An unchanged key is no change of a generated column; `withoutUnchangedKey` removes it later.
    if (field.column && isDatabaseGenerated(field.column) && !isKeyColumn(collection, name)) assertAbsent(field, value);
    else if (relation?.kind === 'many')
      toMany.push({ field, value: parseToManyValue(field, rowKeyNamesOf(schemaSnapshot, relation), value) });
    else if (field.parts && isPayload(value))
      toOne.push({ field, to: (relation as RelationEnd & { kind: 'one' }).to, value });
    else if (!field.column) continue;
    else if (relation?.kind === 'one' && isPayload(value)) toOne.push({ field, to: relation.to, value });
    else if (relation?.kind === 'any' && value !== null) {
      const to = anyTargetOf(collection, field, payload, isPayload(value));
      if (isPayload(value)) toOne.push({ field, to: to as string, value });
      else columns[name] = to === undefined ? value : castAnyKey(schemaSnapshot, field, to, value);
    } else columns[name] = value;
  }
  assertAnyCollections(collection, payload);
  return { columns, toOne, toMany };
}

/** The columns that identify a row behind a to-many alias: its key without the columns that refer to the parent. */
function rowKeyNamesOf(
  schemaSnapshot: SchemaOverview,
  { to, relation }: Extract<RelationEnd, { kind: 'many' }>,
): readonly string[] {
  const collection = schemaSnapshot.collections.get(to);
  const link = collection?.fields.get(relation.field);
  const linked = (link?.parts ?? [link]).map((field) => field?.name);
  return collection?.key ? keyColumnNames(collection.key).filter((name) => !linked.includes(name)) : [];
}

const isKeyColumn = (collection: Collection, name: string): boolean =>
  keyColumns(collection).some((column) => column.name === name);

/**
 * Asserts that a payload has no value for a generated column, or null: forms send null for a value that they do not
 * have.
 */
function assertAbsent(field: Field, value: unknown): void {
  if (value !== null && value !== undefined) throw invalidField(field, 'is made by the database: leave it out');
}

const invalidField = (field: Field, reason: string) =>
  fail('INVALID_PAYLOAD', `${field.name} ${reason}`, { field: field.name, path: [field.name] });

/** The target collection of a many-to-any, which the payload names beside it. */
function anyTargetOf(collection: Collection, field: Field, payload: Payload, isNeeded: boolean): string | undefined {
  if (field.relation?.kind !== 'any') return undefined;
  const { collectionField: by, allowedCollections: allowed } = field.relation;
  const collectionName = payload[by];
  if (collectionName === undefined || collectionName === null) {
    if (isNeeded) throw invalidField(field, `needs its collection in "${by}"`);
    return undefined;
  }
  return assertAllowedCollection(collection, by, allowed, collectionName);
}

function assertAllowedCollection(
  collection: Collection,
  by: string,
  allowed: readonly string[],
  collectionName: unknown,
): string {
  if (typeof collectionName === 'string' && allowed.includes(collectionName)) return collectionName;
  // The allowed names are omitted: the caller may not know them.
  throw fail('INVALID_PAYLOAD', `${by} does not name a collection that this relation leads to`, {
    collection: collection.name,
    field: by,
    path: [by],
  });
}

/** Keys of several types share one text column, so each is cast to the form of its own collection. */
function castAnyKey(schemaSnapshot: SchemaOverview, field: Field, to: string, value: unknown): unknown {
  const target = schemaSnapshot.collections.get(to);
  if (!target) throw invalidField(field, `leads to ${to}, which is not there`);
  try {
    return String(parseKeyValue(requireKeyField(target), value));
  } catch {
    throw invalidField(field, `must be a key of ${to}`);
  }
}

/**
 * Checks the collection that a payload names for each many-to-any. A payload may change this name alone, which changes
 * the meaning of the stored key.
 */
function assertAnyCollections(collection: Collection, payload: Payload): void {
  for (const { relation } of collection.fields.values()) {
    if (relation?.kind !== 'any') continue;
    const collectionName = payload[relation.collectionField];
    if (collectionName !== undefined && collectionName !== null)
      assertAllowedCollection(collection, relation.collectionField, relation.allowedCollections, collectionName);
  }
}
