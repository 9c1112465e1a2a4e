import type { Content, ForeignKey } from '../catalog/content.ts';
import type { Field } from '../contract.ts';
import type { MutableField, MutableFields } from './fields.ts';
import { joint } from './keys.ts';
import { fieldMeta } from './registry-rows.ts';

interface Known {
  readonly name: string;
  readonly key: Field | null;
  readonly hasKey: boolean;
  readonly fields: MutableFields;
}

type Keys = Pick<Content, 'keys'> & { readonly registry: Pick<Content['registry'], 'fields'> };

/**
 * Adds a field for each foreign key of several columns that leads to the key of a collection (ADR 44). It is called like that collection;
 * where several lead there, or a field has the name, like its constraint.
 */
export function addJointFields(content: Keys, served: (table: ForeignKey['from']) => Known | undefined): Joints {
  const joints = new Map<ForeignKey, MutableField>();
  const found = content.keys.flatMap((key) => {
    const [many, one] = [served(key.from), served(key.to)];
    const parts = many && one && key.columns.length > 1 ? partsOf(key, many, one) : undefined;
    return parts && many && one ? [{ key, many, one, parts }] : [];
  });
  const counts = new Map<string, number>();
  const way = (many: Known, one: Known) => `${many.name}\0${one.name}`;
  for (const { many, one } of found) counts.set(way(many, one), (counts.get(way(many, one)) ?? 0) + 1);
  for (const { key, many, one, parts } of found) {
    const isAlone = counts.get(way(many, one)) === 1 && !many.fields.has(one.name);
    const name = isAlone ? one.name : key.name;
    if (many.fields.has(name)) continue;
    const row = content.registry.fields.find((known) => known.collection === many.name && known.field === name);
    const field: MutableField = { ...joint(many.name, name, parts), meta: row ? fieldMeta(row) : null };
    many.fields.set(name, field);
    joints.set(key, field);
  }
  return joints;
}

/** The fields made, by the foreign keys they are made of. */
export type Joints = ReadonlyMap<ForeignKey, Field>;

/** The columns of the foreign key in the order of the key it leads to; undefined where it leads to other columns. */
function partsOf({ columns, toColumns }: ForeignKey, many: Known, one: Known): readonly Field[] | undefined {
  const wanted = one.hasKey ? one.key?.parts : undefined;
  if (wanted?.length !== columns.length) return undefined;
  const parts = wanted.map(({ column }) => many.fields.get(columns[toColumns.indexOf(column?.name ?? '')] ?? ''));
  return parts.every((part) => part?.column) ? (parts as readonly Field[]) : undefined;
}
