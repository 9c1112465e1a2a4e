import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import { parseChoices, type TypedCollection, type TypedField, type TypedRelation } from './typed-schema.ts';

/** Names of the fields that a caller may read, by collection; a collection that is missing may not be read. */
export type ReadableFields = ReadonlyMap<string, ReadonlySet<string>>;

/** Whether the rows of a collection are read as items, by the client library too. */
export const hasReadableRows = ({ kind, verbs }: Collection): boolean =>
  kind !== 'folder' && (verbs === undefined || verbs.includes('read'));

/** What a caller may read of a schema. */
export function typedSchemaOf(schemaSnapshot: SchemaOverview, readable: ReadableFields): readonly TypedCollection[] {
  return [...schemaSnapshot.collections.values()].flatMap((collection) => {
    const names = readable.get(collection.name);
    if (!names || !hasReadableRows(collection)) return [];
    const allowed = new Map(
      [...collection.fields.values()].flatMap(({ relation }) =>
        relation?.kind === 'any' ? [[relation.collectionField, relation.allowedCollections] as const] : [],
      ),
    );
    const fields = [...collection.fields.values()].filter(({ name }) => names.has(name));
    return [
      {
        name: collection.name,
        isSingleton: collection.singleton,
        isSystem: collection.system,
        keyType: collection.hasKey ? collection.key?.type : undefined,
        fields: fields.flatMap((field) => toTypedField(field, readable, allowed)),
      },
    ];
  });
}

function toTypedField(
  field: Field,
  readable: ReadableFields,
  allowed: ReadonlyMap<string, readonly string[]>,
): readonly TypedField[] {
  const { name, type, column, meta, parts } = field;
  const relation = toTypedRelation(field, readable);
  // Fields of presentation and aliases of unreadable rows have no values.
  if (!column && !parts && !relation) return [];
  const columns = parts ? parts.map((part) => part.column) : [column];
  const isNullable = columns.some((one) => one?.nullable && !one.primary);
  const choices = allowed.get(name) ?? column?.enumValues ?? parseChoices(meta);
  return [{ name, type, isNullable, choices, relation }];
}

function toTypedRelation({ relation }: Field, readable: ReadableFields): TypedRelation | null {
  if (!relation) return null;
  if (relation.kind === 'any')
    return { kind: 'any', to: relation.allowedCollections.filter((name) => readable.has(name)) };
  return readable.has(relation.to) ? { kind: relation.kind, to: relation.to } : null;
}
