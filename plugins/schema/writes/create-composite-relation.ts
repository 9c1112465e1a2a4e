import type { Caller } from '#kernel';
import type { Collection } from '../contract.ts';
import { emitSchemaChangeAction } from './events.ts';
import { addForeignKeyConstraint } from './foreign-key.ts';
import { createInvalidPayloadFailure, ownPayloadMember, type Payload, parseObjectPayloadMember } from './payload.ts';
import { parseRegistryMeta, upsertRegistryRow } from './registry-row.ts';
import { parseReferentialAction, parseRequiredText } from './relation-input.ts';
import type { SchemaWriteDeps } from './write-deps-and-guards.ts';

/** The name of a foreign key in a snapshot; undefined without one. @throws INVALID_PAYLOAD */
export function parseConstraintName(schema: Payload | null | undefined): string | undefined {
  const name = schema ? ownPayloadMember(schema, 'constraint_name') : undefined;
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string' || name === '' || name.includes('\0') || Buffer.byteLength(name) > 63)
    throw createInvalidPayloadFailure('"constraint_name" must be a name of at most 63 bytes.');
  return name;
}

/** Whether a relation of a snapshot is a foreign key of several columns. */
export const isCompositeRelation = (payload: Payload): boolean =>
  Array.isArray(parseObjectPayloadMember(payload, 'schema')?.columns);

/** Creates a foreign key of several columns, which is a field of its own (ADR 44). */
export async function createCompositeRelation(
  deps: SchemaWriteDeps,
  caller: Caller,
  many: Collection,
  payload: Payload,
): Promise<{ collection: string; field: string }> {
  const name = parseRequiredText(payload, 'field');
  const schema = parseObjectPayloadMember(payload, 'schema') as Payload;
  const snapshot = await deps.cache.snapshot();
  const one = snapshot.collections.get(parseRequiredText(payload, 'related_collection'));
  const columns = schema.columns as readonly unknown[];
  if (many.kind !== 'table' || one?.kind !== 'table' || one.key?.parts?.length !== columns.length)
    throw createInvalidPayloadFailure(`The relation "${many.name}.${name}" names no composite key.`);
  for (const column of columns)
    if (!many.fields.get(String(column))?.column)
      throw createInvalidPayloadFailure(`Collection "${many.name}" has no field "${String(column)}" with a column.`);
  await addForeignKeyConstraint(deps, {
    many,
    one,
    columns: columns.map(String),
    name: parseConstraintName(schema) ?? `${many.name}_${one.name}_foreign`,
    onDelete: parseReferentialAction(schema, 'on_delete') ?? 'NO ACTION',
    onUpdate: parseReferentialAction(schema, 'on_update') ?? 'NO ACTION',
  });
  const meta = parseObjectPayloadMember(payload, 'meta');
  if (meta) {
    const key = { many_collection: many.name, many_field: name };
    await upsertRegistryRow(deps, 'relations', key, {
      ...parseRegistryMeta('relations', meta),
      one_collection: one.name,
    });
  }
  emitSchemaChangeAction(deps, 'relations', 'create', payload, {
    caller,
    collection: many.name,
    key: name,
    keys: [name],
  });
  return { collection: many.name, field: name };
}
