import type { Caller } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import type { Field } from '../contract.ts';
import { emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { createInvalidPayloadFailure, parseCollectionOrFieldName } from './payload.ts';
import { updateRegistryRows } from './registry-row.ts';
import {
  isSystemField,
  quoteTable,
  requireCollection,
  requireField,
  type SchemaWriteDeps,
} from './write-deps-and-guards.ts';

/** Renames a field with its column and what the registry says about it; values, indexes and foreign keys stay. */
export async function renameField(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  from: string,
  to: string,
): Promise<void> {
  const holder = requireCollection(await deps.cache.snapshot(), collection);
  const field = requireField(holder, from);
  const name = parseCollectionOrFieldName({ field: to }, 'field');
  if (isSystemField(field) || field.parts)
    throw createInvalidPayloadFailure(`Field "${from}" of "${collection}" cannot be renamed.`);
  if (holder.kind === 'view' && field.column)
    throw createInvalidPayloadFailure(`"${collection}" is a view of the database and is changed there.`);
  if (holder.fields.has(name))
    throw createInvalidPayloadFailure(`Field "${name}" already exists in collection "${collection}".`);
  const context = { caller, collection, keys: [from] };
  const payload = await runSchemaChangeFilters(deps, 'fields', 'update', { field: name }, context);
  if (field.column)
    await deps.db.ddl(
      `alter table ${quoteTable(holder)} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(name)}`,
    );
  await renameInRegistry(deps, field, name, holder.meta?.item_duplication_fields);
  emitSchemaChangeAction(deps, 'fields', 'update', payload, context);
}

async function renameInRegistry(
  deps: SchemaWriteDeps,
  { collection, name: from }: Field,
  to: string,
  duplicated: unknown,
): Promise<void> {
  const rename = (
    table: 'collections' | 'fields' | 'relations',
    column: string,
    holder: Readonly<Record<string, string>>,
  ) => updateRegistryRows(deps, table, { [column]: to }, { ...holder, [column]: from });
  await rename('fields', 'field', { collection });
  await rename('fields', 'group', { collection });
  await rename('collections', 'sort_field', { collection });
  await rename('collections', 'archive_field', { collection });
  for (const column of ['many_field', 'junction_field', 'sort_field', 'one_collection_field'])
    await rename('relations', column, { many_collection: collection });
  await rename('relations', 'one_field', { one_collection: collection });
  if (!Array.isArray(duplicated)) return;
  const paths = duplicated.map((path) =>
    path === from || String(path).startsWith(`${from}.`) ? `${to}${String(path).slice(from.length)}` : path,
  );
  const values = { item_duplication_fields: JSON.stringify(paths) };
  await updateRegistryRows(deps, 'collections', values, { collection });
}
