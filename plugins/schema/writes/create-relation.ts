import type { Caller } from '#kernel';
import { buildConstraintOrIndexName } from '../constraint-names.ts';
import type { Collection, Field } from '../contract.ts';
import { renderAddIndex } from './column-ddl.ts';
import { createCompositeRelation, isCompositeRelation, parseConstraintName } from './create-composite-relation.ts';
import { emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { addForeignKeyConstraint } from './foreign-key.ts';
import { createInvalidPayloadFailure, ownPayloadMember, type Payload, parseObjectPayloadMember } from './payload.ts';
import { parseRegistryMeta, upsertRegistryRow } from './registry-row.ts';
import { assertManyToAnyMeta, assertToManyAliasIsFree, findRelation } from './relation-checks.ts';
import { parseReferentialAction, parseRequiredText } from './relation-input.ts';
import { isSystemField, quoteTable, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Creates a relation from a field to one collection, or to one of several (many-to-any). */
export async function createRelation(
  deps: SchemaWriteDeps,
  caller: Caller,
  input: unknown,
): Promise<{ collection: string; field: string }> {
  const payload = await runSchemaChangeFilters(deps, 'relations', 'create', input, { caller });
  const snapshot = await deps.cache.snapshot();
  const [collection, name] = [parseRequiredText(payload, 'collection'), parseRequiredText(payload, 'field')];
  const many = snapshot.collections.get(collection);
  const field = many?.fields.get(name);
  if (deps.exact && many && isCompositeRelation(payload)) return createCompositeRelation(deps, caller, many, payload);
  if (!many || !field?.column)
    throw createInvalidPayloadFailure(`Collection "${collection}" has no field "${name}" with a column.`);
  if (field.column.primary && !deps.exact)
    throw createInvalidPayloadFailure(`Field "${name}" is the primary key and cannot refer to another collection.`);
  if (isSystemField(field))
    throw createInvalidPayloadFailure(`Field "${name}" belongs to the service and cannot be changed.`);
  if (findRelation(snapshot, collection, name))
    throw createInvalidPayloadFailure(`Field "${name}" of "${collection}" already has a relation.`);

  const meta = parseObjectPayloadMember(payload, 'meta');
  const values = meta ? parseRegistryMeta('relations', meta) : {};
  const related = ownPayloadMember(payload, 'related_collection') ?? null;
  const one = typeof related === 'string' ? snapshot.collections.get(related) : undefined;
  if (related !== null && !one) throw createInvalidPayloadFailure(`There is no collection "${String(related)}".`);
  assertToManyAliasIsFree(snapshot, one, values, null);
  const isUnconstrained = deps.exact && ownPayloadMember(payload, 'schema') === null;
  if (one && !isUnconstrained) await addForeignKey(deps, many, field, one, payload);
  else if (!one) assertManyToAnyMeta(snapshot, many, values);
  if (meta || !one || !canHaveConstraint(many, one)) {
    await upsertRegistryRow(
      deps,
      'relations',
      { many_collection: collection, many_field: name },
      { ...values, one_collection: one?.name ?? null },
    );
  }
  emitSchemaChangeAction(deps, 'relations', 'create', payload, { caller, collection, key: name, keys: [name] });
  return { collection, field: name };
}

/** Relations of views have no foreign key. */
const canHaveConstraint = (many: Collection, one: Collection): boolean => many.kind === 'table' && one.kind === 'table';

async function addForeignKey(
  deps: SchemaWriteDeps,
  many: Collection,
  field: Field,
  one: Collection,
  payload: Payload,
): Promise<void> {
  if (!one.primary) throw createInvalidPayloadFailure(`Collection "${one.name}" has no single-column key to refer to.`);
  if (!canHaveConstraint(many, one)) return;
  const schema = parseObjectPayloadMember(payload, 'schema');
  const onDelete = parseReferentialAction(schema, 'on_delete') ?? (field.column?.nullable ? 'SET NULL' : 'NO ACTION');
  if (onDelete === 'SET NULL' && !field.column?.nullable)
    throw createInvalidPayloadFailure('"on_delete" cannot be SET NULL: the field is never null.');
  const tableName = many.table?.name ?? many.name;
  const name =
    (deps.exact ? parseConstraintName(schema) : undefined) ??
    buildConstraintOrIndexName(tableName, field.name, 'foreign');
  await addForeignKeyConstraint(deps, {
    many,
    one,
    columns: [field.name],
    name,
    onDelete,
    onUpdate: parseReferentialAction(schema, 'on_update') ?? 'NO ACTION',
  });
  // A read of the other side looks up the rows of one foreign key value, sorted by their primary key.
  const isIndexed = deps.exact ? schema?.is_indexed === true : true;
  if (isIndexed && !field.column?.indexed)
    await deps.db.ddl(
      renderAddIndex(quoteTable(many), tableName, [field.name, ...(many.primary ? [many.primary] : [])]),
    );
}
