import { GraphQLID, GraphQLInputObjectType, GraphQLNonNull, type GraphQLScalarType } from 'graphql';
import { keyColumns } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import { UNBOUND } from './binding.ts';
import { leafType } from './field-type.ts';
import { typeName } from './names.ts';
import type { Types } from './types.ts';

/** The key of a row, where it has several columns. */
export function keyType(types: Types, name: string): GraphQLInputObjectType | undefined {
  const { collection, fields } = types.model.names.collections.get(name) ?? {};
  const parts = collection ? keyColumns(collection) : [];
  if (!collection || parts.length < 2 || !parts.every((part) => fields?.some((field) => field.name === part.name)))
    return undefined;
  return new GraphQLInputObjectType({
    name: typeName('key', name),
    description: `The key of a row of ${name}.`,
    fields: Object.fromEntries(
      parts.map((part) => [
        part.name,
        { type: new GraphQLNonNull(leafType(collection, part)), description: part.meta?.note, extensions: UNBOUND },
      ]),
    ),
  });
}

/** What names one row: an `ID`, or the columns of its key. Undefined where nothing does. */
export const keyArgument = (
  types: Types,
  collection: Collection,
): GraphQLScalarType | GraphQLInputObjectType | undefined =>
  collection.primary === null ? types.of('key', collection.name) : GraphQLID;
