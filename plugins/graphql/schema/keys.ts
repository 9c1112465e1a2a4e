import { GraphQLID, GraphQLInputObjectType, GraphQLNonNull, type GraphQLScalarType } from 'graphql';
import { keyColumns } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { boundFilter, UNBOUND } from './binding.ts';
import { leafType } from './field-type.ts';
import { fieldDescription, fieldName, typeName } from './names.ts';
import type { Types } from './types.ts';

/** The key of a row, where it has several columns. */
export function keyType(types: Types, name: string): GraphQLInputObjectType | undefined {
  const { names } = types.model;
  const named = names.collections.get(name);
  const parts = named ? keyColumns(named.collection) : [];
  if (!named || parts.length < 2) return undefined;
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

/** What names one row: an `ID`, or the columns of its key. Undefined where nothing does. */
export const keyArgument = (
  types: Types,
  collection: Collection,
): GraphQLScalarType | GraphQLInputObjectType | undefined =>
  collection.primary === null ? types.of('key', collection.name) : GraphQLID;
