import { type Caller, fail } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { Db } from '../../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../../database/library.ts';
import type { Collection, Column, Field, Relation, SchemaOverview, SchemaService } from '../../schema/contract.ts';
import type { ReferenceRemoval } from '../contract.ts';

interface ReferenceDeps {
  readonly db: Db;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly access: Pick<AccessControl, 'isAllowed'>;
}

/** A column that refers to the collection. `condition` selects its rows by the keys in `$1`. */
interface ReferringColumn {
  readonly collection: string;
  readonly field: string;
  readonly table: string;
  readonly name: string;
  readonly condition: string;
  readonly isClearable: boolean;
}

/**
 * Clears references before their row is deleted, whatever the foreign key says (ADR 34). The database only handles
 * RESTRICT, and SET DEFAULT of a required column.
 */
export const createReferenceRemoval = ({ db, schema, access }: ReferenceDeps): ReferenceRemoval => ({
  async clear(collection, keys, caller) {
    for (const one of referencesTo(await schema.snapshot(), collection)) {
      const { table, name, condition, isClearable } = one;
      if (isClearable) await db.query(`update ${table} set ${name} = null where ${condition}`, [keys]);
      else if ((await db.query(`select from ${table} where ${condition} limit 1`, [keys])).rows.length > 0)
        throw await referenceFailure({ access }, one, caller);
    }
  },
});

async function referenceFailure(
  { access }: Pick<ReferenceDeps, 'access'>,
  { collection, field }: ReferringColumn,
  caller: Caller,
) {
  if (!(await access.isAllowed(caller, 'read', collection)))
    return fail('INVALID_FOREIGN_KEY', 'A row of another collection refers to it and must have a value.');
  return fail(
    'INVALID_FOREIGN_KEY',
    `${collection}.${field} refers to it and must have a value: change or delete those rows first.`,
    { collection, field },
  );
}

const KEY_TYPES = ['uuid', 'text', 'character varying', 'character'];

function referencesTo(schemaSnapshot: SchemaOverview, collection: string): readonly ReferringColumn[] {
  return schemaSnapshot.relations.flatMap((relation) => {
    const holder = schemaSnapshot.collections.get(relation.collection);
    const field = holder?.fields.get(relation.field);
    const column = field?.column;
    if (!holder?.table || holder.kind !== 'table' || !column || column.array || !KEY_TYPES.includes(column.dataType))
      return [];
    if (!refersTo(relation, collection) || isLeftToDatabase(relation, holder, field, column)) return [];
    const name = quoteIdentifier(column.name);
    const kind = relation.related === null ? anyConditionSql(holder, relation, collection) : '';
    if (kind === undefined) return [];
    return {
      collection: holder.name,
      field: field.name,
      table: `${quoteIdentifier(holder.table.schema)}.${quoteIdentifier(holder.table.name)}`,
      name,
      condition: `${name} = any($1::text[]::${column.sqlType}[])${kind}${exceptDeletedSql(holder, collection)}`,
      isClearable: isClearable(column),
    };
  });
}

const refersTo = ({ related, meta }: Relation, collection: string): boolean =>
  related === collection || (related === null && (meta?.one_allowed_collections?.includes(collection) ?? false));

const isClearable = ({ nullable, generated }: Column): boolean => nullable && !generated;

function isLeftToDatabase({ schema }: Relation, { system }: Collection, { meta }: Field, column: Column): boolean {
  // System relations without a constraint keep the key of the deleted row on purpose.
  if (schema === null) return system && meta?.system === true;
  const rule = schema.on_delete.toUpperCase();
  return rule === 'RESTRICT' || (rule === 'SET DEFAULT' && !isClearable(column));
}

/** SQL for a many-to-any: only rows that name the collection; undefined without a column for the name. */
function anyConditionSql(holder: Collection, { meta }: Relation, collection: string): string | undefined {
  const by = holder.fields.get(meta?.one_collection_field ?? '')?.column;
  return by ? ` and ${quoteIdentifier(by.name)}::text = ${quoteLiteral(collection)}` : undefined;
}

/** SQL that excludes the deleted rows themselves, which may refer to each other. */
function exceptDeletedSql(holder: Collection, collection: string): string {
  const key = holder.name === collection ? holder.fields.get(holder.primary ?? '')?.column : undefined;
  return key ? ` and ${quoteIdentifier(key.name)} <> all($1::text[]::${key.sqlType}[])` : '';
}
