import type { FieldType, SystemCollection } from '../../schema/contract.ts';
import type { FieldEntry, RelationEntry, SchemaSnapshotDocument } from '../../schema-snapshots/contract.ts';
import { parseChoices, type TypedCollection, type TypedField, type TypedRelation } from './typed-schema.ts';

/** The schema of a snapshot, with the system collections as they are declared. */
export function typedSchemaOfSnapshot(
  snapshot: Pick<SchemaSnapshotDocument, 'collections' | 'fields' | 'relations'>,
  declared: readonly SystemCollection[],
): readonly TypedCollection[] {
  const fields = Map.groupBy(snapshot.fields, ({ collection }) => collection);
  const relations = new SnapshotRelations(snapshot.relations);
  const system = declared
    .filter(({ verbs }) => verbs === undefined || verbs.includes('read'))
    .map((collection) => {
      const custom = (fields.get(collection.collection) ?? []).flatMap((field) => toTypedField(field, relations));
      const typed = toTypedSystemCollection(collection, declared);
      return { ...typed, fields: [...typed.fields, ...custom] };
    });
  const own = snapshot.collections
    .filter(({ schema }) => schema !== null && schema !== undefined)
    .map(({ collection, meta }): TypedCollection => {
      const entries = fields.get(collection) ?? [];
      const keys = entries.filter(({ schema }) => schema?.is_primary_key === true);
      return {
        name: collection,
        isSingleton: meta?.singleton === true,
        isSystem: false,
        keyType: keys.length > 1 ? 'string' : (keys[0]?.type as FieldType | undefined),
        fields: entries.flatMap((field) => toTypedField(field, relations)),
      };
    });
  return [...own, ...system];
}

class SnapshotRelations {
  readonly #byField = new Map<string, RelationEntry>();
  readonly #byAlias = new Map<string, RelationEntry>();
  readonly #allowed = new Map<string, readonly string[]>();

  constructor(relations: readonly RelationEntry[]) {
    for (const relation of relations) {
      const { collection, field, related_collection: related, meta } = relation;
      this.#byField.set(`${collection}\0${field}`, relation);
      if (related && meta?.one_field) this.#byAlias.set(`${related}\0${String(meta.one_field)}`, relation);
      if (!related && meta?.one_collection_field)
        this.#allowed.set(`${collection}\0${String(meta.one_collection_field)}`, allowedOf(relation));
    }
  }

  of(collection: string, field: string): TypedRelation | null {
    const relation = this.#byField.get(`${collection}\0${field}`);
    if (relation?.related_collection) return { kind: 'one', to: relation.related_collection };
    if (relation) return { kind: 'any', to: allowedOf(relation) };
    const many = this.#byAlias.get(`${collection}\0${field}`);
    return many ? { kind: 'many', to: many.collection } : null;
  }

  /** The collections that the field of a many-to-any relation may name. */
  namesIn(collection: string, field: string): readonly string[] | undefined {
    return this.#allowed.get(`${collection}\0${field}`);
  }
}

function allowedOf({ meta }: RelationEntry): readonly string[] {
  const names = meta?.one_allowed_collections as readonly string[] | string | null | undefined;
  return typeof names === 'string' ? names.split(',') : (names ?? []);
}

function toTypedField(
  { collection, field, type, meta, schema }: FieldEntry,
  relations: SnapshotRelations,
): TypedField[] {
  const relation = relations.of(collection, field);
  const hasColumn = type !== 'alias' && schema !== null;
  if (!hasColumn && !relation) return [];
  const enumValues = schema?.enum_values as readonly string[] | null | undefined;
  return [
    {
      name: field,
      type: type as FieldType,
      isNullable: hasColumn && schema?.is_nullable !== false && schema?.is_primary_key !== true,
      choices: relations.namesIn(collection, field) ?? enumValues ?? parseChoices(meta),
      relation,
    },
  ];
}

function toTypedSystemCollection(
  { collection, singleton, fields }: SystemCollection,
  declared: readonly SystemCollection[],
): TypedCollection {
  const aliases = declared.flatMap((other) =>
    other.fields.flatMap(({ references }) =>
      references?.alias && references.collection === collection
        ? [{ name: references.alias, to: other.collection }]
        : [],
    ),
  );
  return {
    name: collection,
    isSingleton: singleton === true,
    isSystem: true,
    keyType: fields.find(({ primary }) => primary)?.type,
    fields: [
      ...fields.map(({ field, type, nullable, primary, references }) => ({
        name: field,
        type,
        isNullable: nullable === true && primary !== true,
        choices: null,
        relation: references ? ({ kind: 'one', to: references.collection } as const) : null,
      })),
      ...aliases.map(({ name, to }) => ({
        name,
        type: 'alias' as const,
        isNullable: false,
        choices: null,
        relation: { kind: 'many', to } as const,
      })),
    ],
  };
}
