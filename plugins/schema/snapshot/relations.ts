import type { CatalogContent, CatalogTable, ForeignKey, RegistryRow } from '../catalog/parse-catalog-content.ts';
import type { Field, Relation, SystemField } from '../contract.ts';
import type { DeclaredCollections } from '../system/declarations.ts';
import type { CompositeForeignKeyFields } from './composite-fields.ts';
import type { MutableFields } from './fields.ts';
import { toRelationMeta } from './registry-rows.ts';
import { buildSystemRelationMeta } from './system-meta.ts';

const REFERENTIAL_ACTIONS: Readonly<Record<string, string>> = {
  a: 'NO ACTION',
  r: 'RESTRICT',
  c: 'CASCADE',
  n: 'SET NULL',
  d: 'SET DEFAULT',
};

interface LinkedCollection {
  readonly primary: string | null;
  readonly key: Field | null;
  readonly hasKey: boolean;
  readonly fields: MutableFields;
}

interface RelationsInput {
  readonly content: CatalogContent;
  /** Served collections that have a table or view. */
  readonly collections: ReadonlyMap<string, LinkedCollection>;
  readonly nameOf: (table: CatalogTable) => string | undefined;
  readonly compositeFields: CompositeForeignKeyFields;
  readonly declarations: DeclaredCollections;
}

/** Builds the relations of foreign keys, of registry rows without a foreign key (views, many-to-any), and of declarations. */
export function buildRelations({
  content,
  collections,
  nameOf,
  compositeFields,
  declarations,
}: RelationsInput): readonly Relation[] {
  const rows = new Map(
    content.registry.relations.map((row) => [relationKey(row.many_collection, row.many_field), row]),
  );
  const found = new Map<string, Relation>();
  for (const key of content.foreignKeys) {
    const collection = nameOf(key.from);
    const related = nameOf(key.to);
    const field = compositeFields.get(key)?.name ?? key.columns[0] ?? '';
    if (!collection || !related || !collections.get(collection)?.fields.has(field)) continue;
    // Requests write relations by keys, so a foreign key to other columns is no relation.
    if (!compositeFields.has(key) && (key.columns.length > 1 || collections.get(related)?.primary !== key.toColumns[0]))
      continue;
    const at = relationKey(collection, field);
    const row = rows.get(at);
    if (found.has(at) && row?.one_collection !== related) continue;
    const declaredField = findDeclaredField(declarations, collection, field);
    const meta = declaredField?.references
      ? buildSystemRelationMeta(collection, declaredField)
      : row
        ? toRelationMeta(row)
        : null;
    const validity: Partial<Relation> = key.isValidated ? {} : { notValidated: true };
    found.set(at, {
      collection,
      field,
      related,
      meta,
      schema: toConstraint(key, compositeFields.get(key)),
      ...validity,
    });
  }
  for (const [at, row] of rows) {
    const relation = found.has(at) ? undefined : buildRegisteredRelation(row, collections);
    if (relation) found.set(at, relation);
  }
  for (const relation of findUnconstrainedRelations(declarations, collections))
    found.set(relationKey(relation.collection, relation.field), relation);
  return [...found.values()];
}

/** Declared relations of system collections without a foreign key. */
const findUnconstrainedRelations = (
  declarations: DeclaredCollections,
  collections: ReadonlyMap<string, LinkedCollection>,
): readonly Relation[] =>
  [...declarations.values()].flatMap(({ collection, fields }) =>
    fields.flatMap((field): readonly Relation[] => {
      if (field.references?.constraint !== false) return [];
      const related = field.references.collection;
      if (!collections.get(collection)?.fields.has(field.field) || !collections.has(related)) return [];
      return [
        { collection, field: field.field, related, meta: buildSystemRelationMeta(collection, field), schema: null },
      ];
    }),
  );

function buildRegisteredRelation(
  row: RegistryRow,
  collections: ReadonlyMap<string, LinkedCollection>,
): Relation | undefined {
  const meta = toRelationMeta(row);
  const many = collections.get(meta.many_collection);
  if (!many?.fields.has(meta.many_field)) return undefined;
  const relation = { collection: meta.many_collection, field: meta.many_field, meta, schema: null };
  if (meta.one_collection_field)
    return many.fields.has(meta.one_collection_field) ? { ...relation, related: null } : undefined;
  if (!meta.one_collection || !collections.has(meta.one_collection)) return undefined;
  return { ...relation, related: meta.one_collection };
}

/** Sets the member `relation` of the fields on both sides of each relation. */
export function linkFieldsToRelations(
  relations: readonly Relation[],
  collections: ReadonlyMap<string, LinkedCollection>,
): void {
  for (const relation of relations) {
    const { collection, related, meta } = relation;
    const many = collections.get(collection)?.fields.get(relation.field);
    if (many && related === null && meta?.one_collection_field) {
      const allowed = (meta.one_allowed_collections ?? []).filter((name) => collections.get(name)?.hasKey);
      many.relation = {
        kind: 'any',
        relation,
        collectionField: meta.one_collection_field,
        allowedCollections: allowed,
      };
    }
    const one = related === null ? undefined : collections.get(related);
    if (!many || !one || related === null || !(many.parts ? one.key?.parts : one.primary)) continue;
    many.relation = { kind: 'one', relation, to: related };
    const alias = meta?.one_field ? one.fields.get(meta.one_field) : undefined;
    if (alias && !alias.column && !alias.relation) alias.relation = { kind: 'many', relation, to: collection };
  }
}

const toConstraint = (key: ForeignKey, joint: Field | undefined): Relation['schema'] => ({
  constraint_name: key.name,
  table: key.from.name,
  column: key.columns.join(),
  foreign_key_schema: key.to.schema,
  foreign_key_table: key.to.name,
  foreign_key_column: key.toColumns.join(),
  ...(joint ? toConstraintColumns(key, joint) : {}),
  on_update: REFERENTIAL_ACTIONS[key.onUpdate] ?? 'NO ACTION',
  on_delete: REFERENTIAL_ACTIONS[key.onDelete] ?? 'NO ACTION',
});

/** The columns of a composite foreign key, in the order of the referenced key. */
function toConstraintColumns({ columns, toColumns }: ForeignKey, { parts = [] }: Field) {
  const names = parts.map(({ name }) => name);
  return { columns: names, foreign_key_columns: names.map((name) => toColumns[columns.indexOf(name)] ?? '') };
}

const findDeclaredField = (
  declarations: DeclaredCollections,
  collection: string,
  name: string,
): SystemField | undefined => declarations.get(collection)?.fields.find(({ field }) => field === name);

const relationKey = (collection: unknown, field: unknown): string => `${String(collection)}\0${String(field)}`;
