import type { Caller } from '#kernel';
import type { Collection, Field } from '../contract.ts';
import { objectName } from '../names.ts';
import { addIndex } from './column-ddl.ts';
import { addConstraint } from './constraint.ts';
import { isSystemField, tableOf, type WriteDeps } from './deps.ts';
import { announce, filtered } from './events.ts';
import { invalid, member, type Payload, part } from './payload.ts';
import { rowValues, upsertRow } from './registry-row.ts';
import { checkAny, checkOneField, relationOf } from './relation-checks.ts';
import { ruleOf, textOf } from './relation-input.ts';

/** Makes a field lead to another collection, or to one of several. */
export async function createRelation(
  deps: WriteDeps,
  caller: Caller,
  input: unknown,
): Promise<{ collection: string; field: string }> {
  const payload = await filtered(deps, 'relations', 'create', input, { caller });
  const overview = await deps.keeper.overview();
  const [collection, name] = [textOf(payload, 'collection'), textOf(payload, 'field')];
  const many = overview.collections.get(collection);
  const field = many?.fields.get(name);
  if (!many || !field?.column) throw invalid(`Collection "${collection}" has no field "${name}" with a column.`);
  if (field.column.primary) throw invalid(`Field "${name}" is the primary key and cannot lead elsewhere.`);
  if (isSystemField(field)) throw invalid(`Field "${name}" belongs to the service and cannot be changed.`);
  if (relationOf(overview, collection, name))
    throw invalid(`Field "${name}" of "${collection}" already has a relation.`);

  const meta = part(payload, 'meta');
  const values = meta ? rowValues('relations', meta) : {};
  const related = member(payload, 'related_collection') ?? null;
  const one = typeof related === 'string' ? overview.collections.get(related) : undefined;
  if (related !== null && !one) throw invalid(`There is no collection "${String(related)}".`);
  checkOneField(overview, one, values, null);
  if (one) await leadToOne(deps, many, field, one, payload);
  else checkAny(overview, many, values);
  if (meta || !one || !hasConstraint(many, one)) {
    await upsertRow(
      deps,
      'relations',
      { many_collection: collection, many_field: name },
      { ...values, one_collection: one?.name ?? null },
    );
  }
  announce(deps, 'relations', 'create', payload, { caller, collection, key: name, keys: [name] });
  return { collection, field: name };
}

/** Views can be related too, only not by a constraint. */
const hasConstraint = (many: Collection, one: Collection): boolean => many.kind === 'table' && one.kind === 'table';

async function leadToOne(
  deps: WriteDeps,
  many: Collection,
  field: Field,
  one: Collection,
  payload: Payload,
): Promise<void> {
  if (!one.primary) throw invalid(`Collection "${one.name}" has no key of one field to lead to.`);
  if (!hasConstraint(many, one)) return;
  const schema = part(payload, 'schema');
  const onDelete = ruleOf(schema, 'on_delete') ?? (field.column?.nullable ? 'SET NULL' : 'NO ACTION');
  if (onDelete === 'SET NULL' && !field.column?.nullable)
    throw invalid('"on_delete" cannot be SET NULL: the field is never null.');
  const tableName = many.table?.name ?? many.name;
  const name = objectName(tableName, field.name, 'foreign');
  await addConstraint(deps, {
    many,
    one,
    columns: [field.name],
    name,
    onDelete,
    onUpdate: ruleOf(schema, 'on_update') ?? 'NO ACTION',
  });
  // Reads of the other side look for the rows of one key, in the order of their own.
  if (!field.column?.indexed)
    await deps.db.ddl(addIndex(tableOf(many), tableName, [field.name, ...(many.primary ? [many.primary] : [])]));
}
