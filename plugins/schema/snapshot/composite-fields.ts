import type { CatalogContent, ForeignKey } from '../catalog/parse-catalog-content.ts';
import type { Field } from '../contract.ts';
import type { MutableField, MutableFields } from './fields.ts';
import { createCompositeField } from './keys.ts';
import { toFieldMeta } from './registry-rows.ts';

interface KeyedCollection {
  readonly name: string;
  readonly key: Field | null;
  readonly hasKey: boolean;
  readonly fields: MutableFields;
}

type CompositeKeyContent = Pick<CatalogContent, 'foreignKeys'> & {
  readonly registry: Pick<CatalogContent['registry'], 'fields'>;
};

/**
 * Adds a field for each composite foreign key that refers to the key of a collection (ADR 44). The field has the name
 * of that collection, or of the constraint where several refer to it or a field has that name.
 */
export function addCompositeFields(
  content: CompositeKeyContent,
  findCollection: (table: ForeignKey['from']) => KeyedCollection | undefined,
): CompositeForeignKeyFields {
  const added = new Map<ForeignKey, MutableField>();
  const found = content.foreignKeys.flatMap((key) => {
    const [many, one] = [findCollection(key.from), findCollection(key.to)];
    const parts = many && one && key.columns.length > 1 ? findParts(key, many, one) : undefined;
    return parts && many && one ? [{ key, many, one, parts }] : [];
  });
  const counts = new Map<string, number>();
  const pairKey = (many: KeyedCollection, one: KeyedCollection) => `${many.name}\0${one.name}`;
  for (const { many, one } of found) counts.set(pairKey(many, one), (counts.get(pairKey(many, one)) ?? 0) + 1);
  for (const { key, many, one, parts } of found) {
    const isAlone = counts.get(pairKey(many, one)) === 1 && !many.fields.has(one.name);
    const name = isAlone ? one.name : key.name;
    if (many.fields.has(name)) continue;
    const row = content.registry.fields.find((known) => known.collection === many.name && known.field === name);
    const field: MutableField = {
      ...createCompositeField(many.name, name, parts),
      meta: row ? toFieldMeta(row) : null,
    };
    many.fields.set(name, field);
    added.set(key, field);
  }
  return added;
}

/** The fields of composite foreign keys, by foreign key. */
export type CompositeForeignKeyFields = ReadonlyMap<ForeignKey, Field>;

/** The fields of the foreign key in the order of the referenced key; undefined where it refers to other columns. */
function findParts(
  { columns, toColumns }: ForeignKey,
  many: KeyedCollection,
  one: KeyedCollection,
): readonly Field[] | undefined {
  const keyParts = one.hasKey ? one.key?.parts : undefined;
  if (keyParts?.length !== columns.length) return undefined;
  const parts = keyParts.map(({ column }) => many.fields.get(columns[toColumns.indexOf(column?.name ?? '')] ?? ''));
  return parts.every((part) => part?.column) ? (parts as readonly Field[]) : undefined;
}
