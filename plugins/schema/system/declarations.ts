import type { SystemCollection, SystemField } from '../contract.ts';
import { SYSTEM_COLLECTION_PREFIX } from '../contract.ts';

/** All declared system collections by name. */
export type DeclaredCollections = ReadonlyMap<string, SystemCollection>;

/**
 * Collects the declarations of all plugins. @throws where a name is used twice or lacks the prefix, a reference has no target, or
 * `whenNull` names no field of the same type
 */
export function collectSystemCollectionDeclarations(all: readonly SystemCollection[]): DeclaredCollections {
  const known = new Map<string, SystemCollection>();
  for (const one of all) {
    if (!one.collection.startsWith(SYSTEM_COLLECTION_PREFIX))
      throw new Error(`${one.collection} does not start with ${SYSTEM_COLLECTION_PREFIX}`);
    if (known.has(one.collection)) throw new Error(`the system collection ${one.collection} is declared twice`);
    known.set(one.collection, one);
  }
  for (const one of all) {
    for (const { field, type, nullable, whenNull, references } of one.fields) {
      if (whenNull && (!nullable || one.fields.find((other) => other.field === whenNull)?.type !== type))
        throw new Error(`${one.collection}.${field} cannot be replaced by ${whenNull} where it is null`);
      const target = references && known.get(references.collection);
      if (references && !target && references.constraint !== false) {
        throw new Error(`${one.collection}.${field} leads to ${references.collection}, which no plugin declares`);
      }
      if (target && !findPrimaryField(target))
        throw new Error(`${one.collection}.${field} leads to a collection without a key`);
    }
  }
  return known;
}

export const findPrimaryField = (collection: SystemCollection): SystemField | undefined =>
  collection.fields.find(({ primary }) => primary);

/** The to-many aliases of a collection, which other collections declare on the fields that hold its key. */
export const toManyAliasesOf = (
  collection: string,
  all: DeclaredCollections,
): readonly { alias: string; from: string; field: string }[] =>
  [...all.values()].flatMap((one) =>
    one.fields.flatMap(({ field, references }) =>
      references?.alias && references.collection === collection
        ? [{ alias: references.alias, from: one.collection, field }]
        : [],
    ),
  );
