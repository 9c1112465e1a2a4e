import type { EventsApi } from '#kernel';
import type { Access } from '../../access/contract.ts';
import { type Db, identifier } from '../../database/contract.ts';
import { isUuid } from '../../query/contract.ts';
import type { Column, Overview, Relation, Schema } from '../../schema/contract.ts';
import { FILES } from '../contract.ts';

interface RuleDeps {
  readonly db: Db;
  readonly access: Pick<Access, 'demand'>;
  readonly schema: Pick<Schema, 'overview'>;
}

/**
 * A file that goes is cleared from the rows that refer to it (specification, "Files endpoints", 6), in the same unit of work.
 * Rules of foreign keys that say what is to happen are left to the database; those that say nothing, and relations without
 * a foreign key, are cleared here.
 */
export function referenceRules({ db, access, schema }: RuleDeps, events: Pick<EventsApi, 'onFilter'>): void {
  events.onFilter('files.delete', async (payload, { caller }) => {
    await access.demand(caller, 'delete', FILES);
    const keys = (payload as readonly unknown[]).filter((key) => typeof key === 'string' && isUuid(key));
    for (const text of clearings(await schema.overview())) await db.query(text, [keys]);
  });
}

const BY_THE_DATABASE = ['RESTRICT', 'CASCADE', 'SET NULL', 'SET DEFAULT'];
const HOLDS_KEYS = ['uuid', 'text', 'character varying', 'character'];

/** Statements that take the keys of files as `$1`. */
function clearings(overview: Overview): readonly string[] {
  return overview.relations.flatMap((relation) => {
    if (!leadsToFiles(relation) || BY_THE_DATABASE.includes(relation.schema?.on_delete.toUpperCase() ?? '')) return [];
    const holder = overview.collections.get(relation.collection);
    const column = holder?.fields.get(relation.field)?.column;
    if (!holder?.table || holder.kind !== 'table' || !column || !isCleared(column)) return [];
    // Relations of the service's own without a constraint outlive what they lead to on purpose.
    if (holder.system && relation.schema === null && holder.fields.get(relation.field)?.meta?.system) return [];
    const kind = relation.related === null ? kindOf(overview, relation) : '';
    if (kind === undefined) return [];
    const table = `${identifier(holder.table.schema)}.${identifier(holder.table.name)}`;
    const name = identifier(column.name);
    return [`update ${table} set ${name} = null where ${name} = any($1::text[]::${column.sqlType}[])${kind}`];
  });
}

const leadsToFiles = ({ related, meta }: Relation): boolean =>
  related === FILES || (related === null && (meta?.one_allowed_collections?.includes(FILES) ?? false));

/** A column that must have a value keeps it: where there is a foreign key, the delete is refused by it. */
const isCleared = ({ nullable, dataType, generated, array }: Column): boolean =>
  nullable && !generated && !array && HOLDS_KEYS.includes(dataType);

/** Of a many-to-any: only what it says is a file. */
function kindOf(overview: Overview, { collection, meta }: Relation): string | undefined {
  const by = overview.collections.get(collection)?.fields.get(meta?.one_collection_field ?? '')?.column;
  return by ? ` and ${identifier(by.name)}::text = '${FILES}'` : undefined;
}
