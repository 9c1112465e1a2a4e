import { GraphQLID, GraphQLInputObjectType, GraphQLNonNull, type GraphQLScalarType } from 'graphql';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import { inputFieldExtensions, NO_GRAPHQL_EXTENSIONS } from './field-bindings.ts';
import { graphqlLeafTypeOf } from './field-type.ts';
import { graphqlFieldDescription, graphqlFieldName, graphqlTypeName } from './schema-names.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

/** The input of a key of several columns. Undefined when the caller may neither read nor write one of them. */
export function createKeyInputType(
  types: CollectionGraphqlTypeRegistry,
  name: string,
): GraphQLInputObjectType | undefined {
  const { names } = types.model;
  const named = names.collections.get(name);
  const parts = named ? keyColumns(named.collection) : [];
  if (!named || parts.length < 2 || !parts.every(createIsKnown(types, name))) return undefined;
  return new GraphQLInputObjectType({
    name: graphqlTypeName('key', named.name),
    description: `The key of a row of ${named.name}.`,
    fields: Object.fromEntries(
      parts.map((part) => {
        const fieldAlias = graphqlFieldName(named, part);
        return [
          fieldAlias,
          {
            type: new GraphQLNonNull(graphqlLeafTypeOf(names.enums, named.collection, part)),
            description: graphqlFieldDescription(named, part),
            extensions:
              fieldAlias === part.name ? NO_GRAPHQL_EXTENSIONS : inputFieldExtensions({ kind: 'key', key: part.name }),
          },
        ];
      }),
    ),
  });
}

const createIsKnown = ({ model }: CollectionGraphqlTypeRegistry, name: string) => {
  const granted = [
    model.readable.get(name) ?? [],
    model.writableFields('create', name),
    model.writableFields('update', name),
  ];
  const known = new Set(granted.flat().map(({ field }) => field.name));
  return (part: Field): boolean => known.has(part.name);
};

/**
 * The type of a key argument: the input of its columns, or an `ID` for one column or when columns are hidden. Undefined
 * without a key.
 */
export const keyArgumentType = (
  types: CollectionGraphqlTypeRegistry,
  collection: Collection,
): GraphQLScalarType | GraphQLInputObjectType | undefined => {
  if (collection.primary !== null) return GraphQLID;
  return collection.hasKey ? (types.get('key', collection.name) ?? GraphQLID) : undefined;
};
