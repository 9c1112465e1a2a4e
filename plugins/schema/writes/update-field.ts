import type { Caller } from '#kernel';
import type { Field } from '../contract.ts';
import { ALIAS_SPECIALS } from '../overview/fields.ts';
import { alterColumn } from './alter-column.ts';
import { isSystemField, knownCollection, knownField, type WriteDeps } from './deps.ts';
import { announce, filtered } from './events.ts';
import { specialOf, withoutTypeFlags, withTypeFlag } from './field-input.ts';
import { invalid, member, type Payload, part, typeOf } from './payload.ts';
import { deleteRows, type RowValues, rowValues, upsertRow } from './registry-row.ts';

/** Changes a field's column and what is known about it. */
export async function updateField(
  deps: WriteDeps,
  caller: Caller,
  collection: string,
  name: string,
  input: unknown,
): Promise<void> {
  const known = knownCollection(await deps.keeper.overview(), collection);
  const field = knownField(known, name);
  const about = { caller, collection, keys: [name] };
  const payload = await filtered(deps, 'fields', 'update', input, about);
  if (member(payload, 'field') !== undefined && member(payload, 'field') !== name)
    throw invalid('A field cannot be renamed.');
  if (isSystemField(field)) refuseSystemChange(payload, field);
  const type = typeOf(payload);
  if ((type === 'alias') !== (field.column === null) && type !== undefined) {
    throw invalid(`Field "${name}" cannot change between an alias and a column.`);
  }
  const schema = part(payload, 'schema');
  if (field.column && (schema || type)) await alterColumn(deps, known, field, type ?? field.type, schema ?? {});
  await changeMeta(deps, field, type, payload);
  announce(deps, 'fields', 'update', payload, about);
}

/** The columns of the service's own collections are its own matter; an index on one of them is not. */
function refuseSystemChange(payload: Payload, field: Field): void {
  const others = Object.keys(payload).filter((key) => !['collection', 'field', 'schema'].includes(key));
  const columnOthers = Object.keys(part(payload, 'schema') ?? {}).filter((key) => key !== 'is_indexed');
  if (others.length + columnOthers.length > 0) {
    throw invalid(`Field "${field.name}" belongs to the service: only "schema.is_indexed" can be changed.`);
  }
}

async function changeMeta(
  deps: WriteDeps,
  field: Field,
  type: Field['type'] | undefined,
  payload: Payload,
): Promise<void> {
  const key = { collection: field.collection, field: field.name };
  const meta = part(payload, 'meta');
  if (meta === null) {
    if (!field.column) throw invalid(`Field "${field.name}" is nothing but what is known about it; delete it instead.`);
    return deleteRows(deps, 'fields', key);
  }
  const special = specialFor(field, type, specialOf(meta));
  const values: RowValues = {
    ...rowValues('fields', meta ?? {}),
    ...(special ? { special: special.length > 0 ? special.join(',') : null } : {}),
  };
  if (Object.keys(values).length > 0 || meta) await upsertRow(deps, 'fields', key, values);
}

/** The flags to store; undefined where they stay. */
function specialFor(
  field: Field,
  type: Field['type'] | undefined,
  given: readonly string[] | undefined,
): readonly string[] | undefined {
  const isAlias = (given ?? field.special).some((flag) => ALIAS_SPECIALS.includes(flag));
  if (isAlias !== (field.column === null))
    throw invalid(`Field "${field.name}" cannot change between an alias and a column.`);
  const changed = type !== undefined && type !== field.type;
  if (given === undefined && !changed) return undefined;
  const flags = given ?? withoutTypeFlags(field.special);
  return changed ? withTypeFlag(type, flags) : flags;
}
