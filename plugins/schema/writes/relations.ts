import { type Caller, fail } from '#kernel';
import { identifier } from '../../database/contract.ts';
import type { Collection, Field, Overview, Relation } from '../contract.ts';
import { objectName } from '../names.ts';
import { listOf } from '../overview/registry-rows.ts';
import { addIndex } from './column-ddl.ts';
import { isSystemField, tableOf, type WriteDeps } from './deps.ts';
import { invalid, member, objectOf, part } from './payload.ts';
import { deleteRows, type RowValues, rowValues, upsertRow } from './registry-row.ts';
import { ruleOf, textOf } from './relation-input.ts';

/** Makes a field lead to another collection, or to one of several. */
export async function createRelation(deps: WriteDeps, caller: Caller, input: unknown): Promise<{ collection: string; field: string }> {
  const asked = objectOf(input, 'A relation');
  const payload = objectOf(await deps.events.filter(['relations.create'], asked, { caller }), 'A relation');
  const overview = await deps.keeper.overview();
  const [collection, name] = [textOf(payload, 'collection'), textOf(payload, 'field')];
  const many = overview.collections.get(collection);
  const field = many?.fields.get(name);
  if (!many || !field?.column) throw invalid(`Collection "${collection}" has no field "${name}" with a column.`);
  if (field.column.primary) throw invalid(`Field "${name}" is the primary key and cannot lead elsewhere.`);
  if (isSystemField(field)) throw invalid(`Field "${name}" belongs to the service and cannot be changed.`);
  if (relationOf(overview, collection, name)) throw invalid(`Field "${name}" of "${collection}" already has a relation.`);

  const meta = part(payload, 'meta');
  const values = meta ? rowValues('relations', meta) : {};
  const related = member(payload, 'related_collection') ?? null;
  const one = typeof related === 'string' ? overview.collections.get(related) : undefined;
  if (related !== null && !one) throw invalid(`There is no collection "${String(related)}".`);
  if (one) await leadToOne(deps, many, field, one, payload);
  else checkAny(overview, many, values);
  checkOneField(overview, one, values, null);
  if (meta || !one || !hasConstraint(many, one)) {
    await upsertRow(deps, 'relations', { many_collection: collection, many_field: name }, { ...values, one_collection: one?.name ?? null });
  }
  deps.events.action(['relations.create'], { caller, payload, collection, key: name, keys: [name] });
  return { collection, field: name };
}

/** Views can be related too, only not by a constraint. */
const hasConstraint = (many: Collection, one: Collection): boolean => many.kind === 'table' && one.kind === 'table';

async function leadToOne(deps: WriteDeps, many: Collection, field: Field, one: Collection, payload: Record<string, unknown> | object): Promise<void> {
  if (!one.primary) throw invalid(`Collection "${one.name}" has no key of one field to lead to.`);
  if (!hasConstraint(many, one)) return;
  const schema = part(payload as Record<string, unknown>, 'schema');
  const onDelete = ruleOf(schema, 'on_delete') ?? (field.column?.nullable ? 'SET NULL' : 'NO ACTION');
  if (onDelete === 'SET NULL' && !field.column?.nullable) throw invalid('"on_delete" cannot be SET NULL: the field is never null.');
  const tableName = many.table?.name ?? many.name;
  const name = objectName(tableName, field.name, 'foreign');
  await addConstraint(deps, { many, one, field: field.name, name, onDelete, onUpdate: ruleOf(schema, 'on_update') ?? 'NO ACTION' });
  // Reads of the other side look for the rows of one key, in the order of their own.
  if (!field.column?.indexed) await deps.db.ddl(addIndex(tableOf(many), tableName, [field.name, ...(many.primary ? [many.primary] : [])]));
}

interface Constraint {
  readonly many: Collection;
  readonly one: Collection;
  readonly field: string;
  readonly name: string;
  readonly onDelete: string;
  readonly onUpdate: string;
}

const addConstraint = ({ db }: WriteDeps, { many, one, field, name, onDelete, onUpdate }: Constraint): Promise<void> =>
  db.ddl(
    `alter table ${tableOf(many)} add constraint ${identifier(name)} foreign key (${identifier(field)})
    references ${tableOf(one)} (${identifier(one.primary as string)}) on delete ${onDelete} on update ${onUpdate}`,
  );

function checkAny(overview: Overview, many: Collection, values: RowValues): void {
  const by = values.one_collection_field;
  const allowed = listOf(values.one_allowed_collections) ?? [];
  if (typeof by !== 'string' || allowed.length === 0) {
    throw invalid('"related_collection" is required, or "meta.one_collection_field" and "meta.one_allowed_collections".');
  }
  if (!many.fields.get(by)?.column) throw invalid(`Collection "${many.name}" has no field "${by}".`);
  const unknown = allowed.find((name) => !overview.collections.has(name));
  if (unknown !== undefined) throw invalid(`There is no collection "${unknown}".`);
}

/** The alias that shows the other side must not be a column, nor show another relation already. */
function checkOneField(overview: Overview, one: Collection | undefined, values: RowValues, own: Relation | null): void {
  const name = values.one_field;
  if (typeof name !== 'string' || !one) return;
  if (one.fields.get(name)?.column) throw invalid(`Field "${name}" of "${one.name}" has a column and cannot be an alias.`);
  const taken = overview.relations.find(({ related, meta }) => related === one.name && meta?.one_field === name);
  if (taken && (taken.collection !== own?.collection || taken.field !== own.field)) {
    throw invalid(`Field "${name}" of "${one.name}" already shows another relation.`);
  }
}

/** Changes what is known about a relation, and its constraint's rules. */
export async function updateRelation(deps: WriteDeps, caller: Caller, collection: string, name: string, input: unknown): Promise<void> {
  const overview = await deps.keeper.overview();
  const relation = knownRelation(overview, collection, name);
  const about = { caller, collection, keys: [name] };
  const asked = objectOf(input, 'A relation');
  const payload = objectOf(await deps.events.filter(['relations.update'], asked, about), 'A relation');
  if (relation.meta?.system) throw invalid('A relation of the service itself cannot be changed.');
  const related = member(payload, 'related_collection');
  if (related !== undefined && related !== relation.related) throw invalid('"related_collection" cannot be changed.');
  await changeRules(deps, overview, relation, part(payload, 'schema'));
  const meta = part(payload, 'meta');
  const key = { many_collection: collection, many_field: name };
  if (meta === null) {
    if (!relation.schema) throw invalid('This relation is nothing but what is known about it; delete it instead.');
    await deleteRows(deps, 'relations', key);
  } else if (meta) {
    const values = rowValues('relations', meta);
    const one = relation.related === null ? undefined : overview.collections.get(relation.related);
    checkOneField(overview, one, values, relation);
    const many = overview.collections.get(collection) as Collection;
    if (!one) checkAny(overview, many, { ...relation.meta, one_allowed_collections: relation.meta?.one_allowed_collections?.join(','), ...values });
    await upsertRow(deps, 'relations', key, { ...values, one_collection: relation.related });
  }
  deps.events.action(['relations.update'], { ...about, payload });
}

async function changeRules(deps: WriteDeps, overview: Overview, relation: Relation, schema: ReturnType<typeof part>): Promise<void> {
  const now = relation.schema;
  const onDelete = ruleOf(schema, 'on_delete') ?? now?.on_delete;
  const onUpdate = ruleOf(schema, 'on_update') ?? now?.on_update;
  if (!now || !onDelete || !onUpdate || (onDelete === now.on_delete && onUpdate === now.on_update)) return;
  const many = overview.collections.get(relation.collection) as Collection;
  const one = overview.collections.get(relation.related as string) as Collection;
  if (onDelete === 'SET NULL' && !many.fields.get(relation.field)?.column?.nullable) {
    throw invalid('"on_delete" cannot be SET NULL: the field is never null.');
  }
  await dropConstraint(deps, many, now.constraint_name);
  await addConstraint(deps, { many, one, field: relation.field, name: now.constraint_name, onDelete, onUpdate });
}

const dropConstraint = ({ db }: WriteDeps, many: Collection, name: string): Promise<void> =>
  db.ddl(`alter table ${tableOf(many)} drop constraint ${identifier(name)}`);

/** Removes the constraint and what is known; the columns stay. */
export async function deleteRelation(deps: WriteDeps, caller: Caller, collection: string, name: string): Promise<void> {
  const overview = await deps.keeper.overview();
  const relation = knownRelation(overview, collection, name);
  if (relation.meta?.system) throw invalid('A relation of the service itself cannot be deleted.');
  const about = { caller, collection, keys: [name] };
  await deps.events.filter(['relations.delete'], [name], about);
  if (relation.schema) await dropConstraint(deps, overview.collections.get(collection) as Collection, relation.schema.constraint_name);
  await deleteRows(deps, 'relations', { many_collection: collection, many_field: name });
  deps.events.action(['relations.delete'], { ...about, payload: [name] });
}

const relationOf = (overview: Overview, collection: string, field: string): Relation | undefined =>
  overview.relations.find((one) => one.collection === collection && one.field === field);

function knownRelation(overview: Overview, collection: string, field: string): Relation {
  const relation = relationOf(overview, collection, field);
  if (!relation) throw fail('FORBIDDEN', `there is no relation ${collection}.${field}`);
  return relation;
}
