import type { Caller } from '#kernel';
import type { Collection, Overview, Relation } from '../contract.ts';
import { addConstraint, dropConstraint } from './constraint.ts';
import type { WriteDeps } from './deps.ts';
import { announce, filtered } from './events.ts';
import { invalid, member, type Payload, part } from './payload.ts';
import { deleteRows, rowValues, upsertRow } from './registry-row.ts';
import { checkAny, checkOneField, knownRelation } from './relation-checks.ts';
import { ruleOf } from './relation-input.ts';

/** Changes what is known about a relation, and its constraint's rules. */
export async function updateRelation(
  deps: WriteDeps,
  caller: Caller,
  collection: string,
  name: string,
  input: unknown,
): Promise<void> {
  const overview = await deps.keeper.overview();
  const relation = knownRelation(overview, collection, name);
  const about = { caller, collection, keys: [name] };
  const payload = await filtered(deps, 'relations', 'update', input, about);
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
    if (!one)
      checkAny(overview, many, {
        ...relation.meta,
        one_allowed_collections: relation.meta?.one_allowed_collections?.join(','),
        ...values,
      });
    await upsertRow(deps, 'relations', key, { ...values, one_collection: relation.related });
  }
  announce(deps, 'relations', 'update', payload, about);
}

async function changeRules(
  deps: WriteDeps,
  overview: Overview,
  relation: Relation,
  schema: Payload | null | undefined,
): Promise<void> {
  const now = relation.schema;
  const onDelete = ruleOf(schema, 'on_delete') ?? now?.on_delete;
  const onUpdate = ruleOf(schema, 'on_update') ?? now?.on_update;
  if (!now || !onDelete || !onUpdate || (onDelete === now.on_delete && onUpdate === now.on_update)) return;
  const many = overview.collections.get(relation.collection) as Collection;
  const one = overview.collections.get(relation.related as string) as Collection;
  const field = many.fields.get(relation.field);
  if (onDelete === 'SET NULL' && !(field?.parts ?? [field]).every((part) => part?.column?.nullable)) {
    throw invalid('"on_delete" cannot be SET NULL: the field is never null.');
  }
  await dropConstraint(deps, many, now.constraint_name);
  await addConstraint(deps, {
    many,
    one,
    columns: now.columns ?? [now.column],
    name: now.constraint_name,
    onDelete,
    onUpdate,
  });
}
