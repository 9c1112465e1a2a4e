import type { Caller } from '#kernel';
import type { Field } from '../contract.ts';
import { ALIAS_SPECIALS } from '../snapshot/fields.ts';
import { alterColumn } from './alter-column.ts';
import { emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { parseSpecial, withoutTypeSpecials, withTypeSpecial } from './field-input.ts';
import {
  createInvalidPayloadFailure,
  ownPayloadMember,
  type Payload,
  parseFieldTypeMember,
  parseObjectPayloadMember,
} from './payload.ts';
import {
  deleteMatchingRegistryRows,
  parseRegistryMeta,
  type RegistryRowValues,
  upsertRegistryRow,
} from './registry-row.ts';
import { isSystemField, requireCollection, requireField, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Changes the column and the registry row of a field. */
export async function updateField(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  name: string,
  input: unknown,
): Promise<void> {
  const holder = requireCollection(await deps.cache.snapshot(), collection);
  const field = requireField(holder, name);
  const context = { caller, collection, keys: [name] };
  const payload = await runSchemaChangeFilters(deps, 'fields', 'update', input, context);
  if (ownPayloadMember(payload, 'field') !== undefined && ownPayloadMember(payload, 'field') !== name)
    throw createInvalidPayloadFailure('A field cannot be renamed.');
  if (isSystemField(field)) assertAllowedSystemChange(payload, field);
  const type = parseFieldTypeMember(payload);
  if ((type === 'alias') !== (field.column === null) && type !== undefined) {
    throw createInvalidPayloadFailure(`Field "${name}" cannot change between an alias and a column.`);
  }
  const schema = parseObjectPayloadMember(payload, 'schema');
  if (field.column && (schema || type)) await alterColumn(deps, holder, field, type ?? field.type, schema ?? {});
  await changeMeta(deps, field, type, payload);
  emitSchemaChangeAction(deps, 'fields', 'update', payload, context);
}

/** Refuses changes of a system field, except of its index. */
function assertAllowedSystemChange(payload: Payload, field: Field): void {
  const others = Object.keys(payload).filter((key) => !['collection', 'field', 'schema'].includes(key));
  const columnOthers = Object.keys(parseObjectPayloadMember(payload, 'schema') ?? {}).filter(
    (key) => key !== 'is_indexed',
  );
  if (others.length + columnOthers.length > 0) {
    throw createInvalidPayloadFailure(
      `Field "${field.name}" belongs to the service: only "schema.is_indexed" can be changed.`,
    );
  }
}

async function changeMeta(
  deps: SchemaWriteDeps,
  field: Field,
  type: Field['type'] | undefined,
  payload: Payload,
): Promise<void> {
  const key = { collection: field.collection, field: field.name };
  const meta = parseObjectPayloadMember(payload, 'meta');
  if (meta === null) {
    if (!field.column)
      throw createInvalidPayloadFailure(`Field "${field.name}" has only its registry row; delete the field instead.`);
    return deleteMatchingRegistryRows(deps, 'fields', key);
  }
  const requested = parseSpecial(meta);
  const special = deps.exact && requested ? requested : mergeSpecial(field, type, requested);
  const values: RegistryRowValues = {
    ...parseRegistryMeta('fields', meta ?? {}),
    ...(special ? { special: special.length > 0 ? special.join(',') : null } : {}),
  };
  if (Object.keys(values).length > 0 || meta) await upsertRegistryRow(deps, 'fields', key, values);
}

/** The value of `special` to store; undefined where it stays. */
function mergeSpecial(
  field: Field,
  type: Field['type'] | undefined,
  requested: readonly string[] | undefined,
): readonly string[] | undefined {
  const isAlias = (requested ?? field.special).some((flag) => ALIAS_SPECIALS.includes(flag));
  if (isAlias !== (field.column === null))
    throw createInvalidPayloadFailure(`Field "${field.name}" cannot change between an alias and a column.`);
  const changed = type !== undefined && type !== field.type;
  if (requested === undefined && !changed) return undefined;
  const flags = requested ?? withoutTypeSpecials(field.special);
  return changed ? withTypeSpecial(type, flags) : flags;
}
