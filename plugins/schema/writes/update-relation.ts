import type { Caller } from '#kernel';
import type { Collection, Relation, SchemaOverview } from '../contract.ts';
import { emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { addForeignKeyConstraint, dropForeignKeyConstraint } from './foreign-key.ts';
import { createInvalidPayloadFailure, ownPayloadMember, type Payload, parseObjectPayloadMember } from './payload.ts';
import { deleteMatchingRegistryRows, parseRegistryMeta, upsertRegistryRow } from './registry-row.ts';
import { assertManyToAnyMeta, assertToManyAliasIsFree, requireRelation } from './relation-checks.ts';
import { parseReferentialAction } from './relation-input.ts';
import type { SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Changes the registry row of a relation and the referential actions of its foreign key. */
export async function updateRelation(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  name: string,
  input: unknown,
): Promise<void> {
  const snapshot = await deps.cache.snapshot();
  const relation = requireRelation(snapshot, collection, name);
  const context = { caller, collection, keys: [name] };
  const payload = await runSchemaChangeFilters(deps, 'relations', 'update', input, context);
  if (relation.meta?.system) throw createInvalidPayloadFailure('A relation of the service itself cannot be changed.');
  const related = ownPayloadMember(payload, 'related_collection');
  if (related !== undefined && related !== relation.related)
    throw createInvalidPayloadFailure('"related_collection" cannot be changed.');
  await changeRules(deps, snapshot, relation, parseObjectPayloadMember(payload, 'schema'));
  const meta = parseObjectPayloadMember(payload, 'meta');
  const key = { many_collection: collection, many_field: name };
  if (meta === null) {
    if (!relation.schema)
      throw createInvalidPayloadFailure('This relation has only its registry row; delete the relation instead.');
    await deleteMatchingRegistryRows(deps, 'relations', key);
  } else if (meta) {
    const values = parseRegistryMeta('relations', meta);
    const one = relation.related === null ? undefined : snapshot.collections.get(relation.related);
    assertToManyAliasIsFree(snapshot, one, values, relation);
    const many = snapshot.collections.get(collection) as Collection;
    if (!one)
      assertManyToAnyMeta(snapshot, many, {
        ...relation.meta,
        one_allowed_collections: relation.meta?.one_allowed_collections?.join(','),
        ...values,
      });
    await upsertRegistryRow(deps, 'relations', key, { ...values, one_collection: relation.related });
  }
  emitSchemaChangeAction(deps, 'relations', 'update', payload, context);
}

async function changeRules(
  deps: SchemaWriteDeps,
  snapshot: SchemaOverview,
  relation: Relation,
  schema: Payload | null | undefined,
): Promise<void> {
  const current = relation.schema;
  const onDelete = parseReferentialAction(schema, 'on_delete') ?? current?.on_delete;
  const onUpdate = parseReferentialAction(schema, 'on_update') ?? current?.on_update;
  if (!current || !onDelete || !onUpdate || (onDelete === current.on_delete && onUpdate === current.on_update)) return;
  const many = snapshot.collections.get(relation.collection) as Collection;
  const one = snapshot.collections.get(relation.related as string) as Collection;
  const field = many.fields.get(relation.field);
  if (onDelete === 'SET NULL' && !(field?.parts ?? [field]).every((part) => part?.column?.nullable)) {
    throw createInvalidPayloadFailure('"on_delete" cannot be SET NULL: the field is never null.');
  }
  await dropForeignKeyConstraint(deps, many, current.constraint_name);
  await addForeignKeyConstraint(deps, {
    many,
    one,
    columns: current.columns ?? [current.column],
    name: current.constraint_name,
    onDelete,
    onUpdate,
  });
}
