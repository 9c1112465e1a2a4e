import type { Caller } from '#kernel';
import type { PendingRevisionId } from '../../activity/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { findWritableCollection, parseKeyValue } from '../find-collection-and-key.ts';
import { buildForeignKeyColumns, setForeignKeyColumns } from './composite-foreign-keys.ts';
import type { LevelWriteContext, LevelWrites } from './level-writes.ts';
import { keyOfPayload, withoutKeyColumns } from './row-key.ts';
import type { RequestRowPath } from './row-path.ts';
import type { SplitPayload, ToOnePayloadPart } from './split-payload.ts';
import { findExistingKeys } from './stored-row-lookups.ts';

interface ToOneParent {
  readonly parts: SplitPayload;
  readonly parentRevision: PendingRevisionId | null;
  readonly path: RequestRowPath;
}

/**
 * Inserts and updates the related rows that the payloads of one nesting level contain in many-to-one and many-to-any
 * fields, one field at a time. Returns the columns of each row with the keys of its related rows in them.
 */
export async function writeToOneFields(
  context: LevelWriteContext,
  caller: Caller,
  parents: readonly ToOneParent[],
): Promise<Payload[]> {
  const columns = parents.map(({ parts }) => ({ ...parts.columns }));
  const groups = new Map<string, { part: ToOnePayloadPart; at: number }[]>();
  for (const [at, { parts }] of parents.entries()) {
    for (const part of parts.toOne) {
      const name = `${part.field.name}\0${part.to}`;
      const group = groups.get(name);
      if (group) group.push({ part, at });
      else groups.set(name, [{ part, at }]);
    }
  }
  for (const group of groups.values()) {
    const { field, to } = (group[0] as { part: ToOnePayloadPart }).part;
    const rows = group.map(({ part, at }) => {
      const { parentRevision, path } = parents[at] as ToOneParent;
      return { value: part.value, parentRevision, path: [...path, field.name] };
    });
    const keys = await upsertRows(context.deps, context.nested, caller, to, rows);
    for (const [index, { at }] of group.entries()) {
      const rowColumns = columns[at] as Payload;
      if (field.parts) setForeignKeyColumns(field, buildForeignKeyColumns(field, keys[index]), rowColumns);
      else rowColumns[field.name] = field.relation?.kind === 'any' ? String(keys[index]) : keys[index];
    }
  }
  return columns;
}

export interface RowUpsert {
  readonly value: Payload;
  readonly parentRevision: PendingRevisionId | null;
  readonly path: RequestRowPath;
  readonly platformValues?: Payload;
}

/**
 * Writes objects with or without keys (specification, "Relational write shapes"). An object without a key is created,
 * one with a key alone is linked, one with more is updated, or created under its key where the row does not exist.
 * Returns the keys.
 */
export async function upsertRows(
  deps: ItemsEngineDeps,
  nested: LevelWrites,
  caller: Caller,
  name: string,
  rows: readonly RowUpsert[],
): Promise<Key[]> {
  const { collection, key, schemaSnapshot } = await findWritableCollection(deps.schema, name);
  const requestKeys = rows.map(({ value, platformValues }) => {
    const payloadKey = keyOfPayload(key, key.parts ? { ...platformValues, ...value } : value, schemaSnapshot);
    return payloadKey === undefined ? undefined : parseKeyValue(key, payloadKey);
  });
  const requestedKeys = [...new Set(requestKeys.filter((one) => one !== undefined))];
  const existing = new Map(await findExistingKeys(deps.db, collection, requestedKeys));
  const creates: number[] = [];
  const updates: number[] = [];
  for (const [at, requestKey] of requestKeys.entries()) {
    if (requestKey !== undefined && existing.has(String(requestKey))) updates.push(at);
    else {
      creates.push(at);
      // A second object with this key is the row that the first one creates.
      if (requestKey !== undefined) existing.set(String(requestKey), requestKey);
    }
  }
  const keys = requestKeys.map((requestKey) => existing.get(String(requestKey)) ?? requestKey) as Key[];
  if (creates.length > 0) {
    const entries = creates
      .map((at) => rows[at] as RowUpsert)
      .map(({ value, ...rest }) => ({ payload: value, ...rest }));
    const createdKeys = await nested.create(caller, name, entries);
    for (const [index, at] of creates.entries()) keys[at] = createdKeys[index] as Key;
  }
  const changes = updates.flatMap((at) => {
    const { value, ...rest } = rows[at] as RowUpsert;
    const payload = withoutKeyColumns(key, value);
    return Object.keys(payload).length > 0 || rest.platformValues ? [{ keys: [keys[at]], payload, ...rest }] : [];
  });
  if (changes.length > 0) await nested.update(caller, name, changes);
  return keys;
}
