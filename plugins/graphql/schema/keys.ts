import { GraphQLID, GraphQLInputObjectType, GraphQLNonNull, type GraphQLScalarType } from 'graphql';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import { boundFilter, UNBOUND } from './binding.ts';
import { leafType } from './field-type.ts';
import { fieldDescription, fieldName, typeName } from './names.ts';
import type { Types } from './types.ts';

/** The key of a row, where it has several columns. Undefined where the caller may know of one of them neither to read nor to write it. */
export function keyType(types: Types, name: string): GraphQLInputObjectType | undefined {
  const { names } = types.model;
  const named = names.collections.get(name);
  const parts = named ? keyColumns(named.collection) : [];
  if (!named || parts.length < 2 || !parts.every(isKnown(types, name))) return undefined;
  return new GraphQLInputObjectType({
    name: typeName('key', named.name),
    description: `The key of a row of ${named.name}.`,
    fields: Object.fromEntries(
      parts.map((part) => {
        const called = fieldName(named, part);
        return [
          called,
          {
            type: new GraphQLNonNull(leafType(names.enums, named.collection, part)),
            description: fieldDescription(named, part),
            extensions: called === part.name ? UNBOUND : boundFilter({ kind: 'key', key: part.name }),
          },
        ];
      }),
    ),
  });
}

const isKnown = ({ model }: Types, name: string) => {
  const granted = [model.readable.get(name) ?? [], model.writable('create', name), model.writable('update', name)];
  const known = new Set(granted.flat().map(({ field }) => field.name));
  return (part: Field): boolean => known.has(part.name);
};

/** What names one row: the columns of its key, or an `ID`, which is the key's text where columns are hidden. Undefined where nothing does. */
export const keyArgument = (
  types: Types,
  collection: Collection,
): GraphQLScalarType | GraphQLInputObjectType | undefined => {
  if (collection.primary !== null) return GraphQLID;
  return collection.hasKey ? (types.of('key', collection.name) ?? GraphQLID) : undefined;
};
