import type { Caller } from '#kernel';
import { identifier } from '../../database/library.ts';
import type { Field, Overview } from '../contract.ts';
import { isSystemField, knownCollection, knownField, tableOf, type WriteDeps } from './deps.ts';
import { invalid } from './payload.ts';
import { changeRows, deleteRows } from './registry-row.ts';

/** Deletes a field a client named. */
export async function deleteField(deps: WriteDeps, caller: Caller, collection: string, name: string): Promise<void> {
  const known = knownCollection(await deps.keeper.overview(), collection);
  const field = knownField(known, name);
  if (isSystemField(field)) throw invalid(`Field "${name}" belongs to the service and cannot be deleted.`);
  if (field.column?.primary) throw invalid(`Field "${name}" is the primary key and cannot be deleted.`);
  if (field.parts) throw invalid(`Field "${name}" is a foreign key: delete the relation instead.`);
  if (field.column && known.kind === 'view')
    throw invalid(`"${collection}" is a view of the database and is changed there.`);
  await removeField(deps, caller, collection, name);
}

/** Deletes a field with its column and everything that names it; nothing where an earlier step did so already. */
export async function removeField(deps: WriteDeps, caller: Caller, collection: string, name: string): Promise<void> {
  const overview = await deps.keeper.overview();
  const known = overview.collections.get(collection);
  const field = known?.fields.get(name);
  if (!known || !field || isSystemField(field)) return;
  const about = { caller, collection, keys: [name] };
  await deps.events.filter(['fields.delete'], [name], about);
  await forgetRelations(deps, caller, overview, field);
  if (field.column) await deps.db.ddl(`alter table ${tableOf(known)} drop column ${identifier(name)}`);
  await forgetMentions(deps, overview, field);
  await deleteRows(deps, 'fields', { collection, field: name });
  deps.events.action(['fields.delete'], { ...about, payload: [name] });
}

async function forgetRelations(
  deps: WriteDeps,
  caller: Caller,
  overview: Overview,
  { collection, name }: Field,
): Promise<void> {
  for (const { collection: holder, field, meta } of overview.relations) {
    const parts = overview.collections.get(holder)?.fields.get(field)?.parts;
    const isNamed = field === name || meta?.one_collection_field === name || parts?.some((part) => part.name === name);
    const isHeld = holder === collection && isNamed;
    if (!isHeld) continue;
    await deleteRows(deps, 'relations', { many_collection: holder, many_field: field });
    // The alias on the other side would show nothing any more.
    if (meta?.one_collection && meta.one_field) await removeField(deps, caller, meta.one_collection, meta.one_field);
  }
  await changeRows(deps, 'relations', { one_field: null }, { one_collection: collection, one_field: name });
  await changeRows(deps, 'relations', { junction_field: null }, { many_collection: collection, junction_field: name });
  await changeRows(deps, 'relations', { sort_field: null }, { many_collection: collection, sort_field: name });
}

async function forgetMentions(deps: WriteDeps, overview: Overview, { collection, name, meta }: Field): Promise<void> {
  await changeRows(deps, 'fields', { group: meta?.group ?? null }, { collection, group: name });
  await changeRows(deps, 'collections', { sort_field: null }, { collection, sort_field: name });
  await changeRows(
    deps,
    'collections',
    { archive_field: null, archive_value: null, unarchive_value: null },
    { collection, archive_field: name },
  );
  const copied = overview.collections.get(collection)?.meta?.item_duplication_fields;
  if (!Array.isArray(copied)) return;
  const left = copied.filter((path) => path !== name && !String(path).startsWith(`${name}.`));
  if (left.length < copied.length) {
    await changeRows(deps, 'collections', { item_duplication_fields: JSON.stringify(left) }, { collection });
  }
}
