import { type GraphQLFieldConfig, GraphQLList, GraphQLNonNull, type GraphQLObjectType, GraphQLString } from 'graphql';
import { createFieldBindingExtensions } from './field-bindings.ts';
import { keyArgumentType } from './key-input-types.ts';
import { createListFieldArguments } from './list-arguments.ts';
import type { GraphqlCollectionNames } from './schema-names.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

export type RootFieldConfigs = [name: string, config: GraphQLFieldConfig<unknown, unknown>][];

const TEXT_LIST = new GraphQLList(GraphQLString);

/** A non-null list of non-null entries. */
export const nonNullList = (type: GraphQLObjectType) => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));

/** The fields of `Query` for collections: lists, rows by key, groups. */
export const createQueryFields = (types: CollectionGraphqlTypeRegistry): RootFieldConfigs =>
  [...types.model.names.collections.values()].flatMap((named) => createFields(types, named));

function createFields(
  types: CollectionGraphqlTypeRegistry,
  { collection, rootName, description }: GraphqlCollectionNames,
): RootFieldConfigs {
  const { name } = collection;
  const key = keyArgumentType(types, collection);
  const type = types.get('object', name);
  if (rootName === null || !type) return [];
  if (collection.singleton)
    return [
      [
        rootName,
        { type, description, extensions: createFieldBindingExtensions({ kind: 'singleton', collection: name }) },
      ],
    ];
  const args = createListFieldArguments(types, name);
  const fields: RootFieldConfigs = [
    [
      rootName,
      {
        type: nonNullList(type),
        description,
        args,
        extensions: createFieldBindingExtensions({ kind: 'list', collection: name }),
      },
    ],
  ];
  if (key)
    fields.push([
      `${rootName}_by_id`,
      {
        type,
        args: { id: { type: new GraphQLNonNull(key) } },
        extensions: createFieldBindingExtensions({ kind: 'by id', collection: name }),
      },
    ]);
  const groups = types.get('groups', name);
  if (groups)
    fields.push([
      `${rootName}_aggregated`,
      {
        type: nonNullList(groups),
        args: { groupBy: { type: TEXT_LIST }, ...args },
        extensions: createFieldBindingExtensions({ kind: 'aggregated', collection: name }),
      },
    ]);
  return fields;
}
