import type { Db } from '../../database/contract.ts';
import { identifier, literal } from '../../database/library.ts';
import type { Column, Overview, Relation, Schema } from '../../schema/contract.ts';
import type { References } from '../contract.ts';

interface Deps {
  readonly db: Db;
  readonly schema: Pick<Schema, 'overview'>;
}

/**
 * Rules of foreign keys that say what is to happen are left to the database; those that say nothing, and relations without
 * a foreign key, are cleared here.
 */
export const createReferences = ({ db, schema }: Deps): References => ({
  async clear(collection, keys) {
    for (const text of clearings(await schema.overview(), collection)) await db.query(text, [keys]);
  },
});

const BY_THE_DATABASE = ['RESTRICT', 'CASCADE', 'SET NULL', 'SET DEFAULT'];
const HOLDS_KEYS = ['uuid', 'text', 'character varying', 'character'];

/** Statements that take the keys as `$1`. */
function clearings(overview: Overview, collection: string): readonly string[] {
  return overview.relations.flatMap((relation) => {
    if (!leadsTo(relation, collection) || BY_THE_DATABASE.includes(relation.schema?.on_delete.toUpperCase() ?? ''))
      return [];
    const holder = overview.collections.get(relation.collection);
    const column = holder?.fields.get(relation.field)?.column;
    if (!holder?.table || holder.kind !== 'table' || !column || !isCleared(column)) return [];
    // Relations of the service's own without a constraint outlive what they lead to on purpose.
    if (holder.system && relation.schema === null && holder.fields.get(relation.field)?.meta?.system) return [];
    const kind = relation.related === null ? kindOf(overview, relation, collection) : '';
    if (kind === undefined) return [];
    const table = `${identifier(holder.table.schema)}.${identifier(holder.table.name)}`;
    const name = identifier(column.name);
    return [`update ${table} set ${name} = null where ${name} = any($1::text[]::${column.sqlType}[])${kind}`];
  });
}

const leadsTo = ({ related, meta }: Relation, collection: string): boolean =>
  related === collection || (related === null && (meta?.one_allowed_collections?.includes(collection) ?? false));

/** A column that must have a value keeps it: where there is a foreign key, the delete is refused by it. */
const isCleared = ({ nullable, dataType, generated, array }: Column): boolean =>
  nullable && !generated && !array && HOLDS_KEYS.includes(dataType);

/** Of a many-to-any: only what it says is a row of the collection. */
function kindOf(overview: Overview, { collection: from, meta }: Relation, collection: string): string | undefined {
  const by = overview.collections.get(from)?.fields.get(meta?.one_collection_field ?? '')?.column;
  return by ? ` and ${identifier(by.name)}::text = ${literal(collection)}` : undefined;
}
