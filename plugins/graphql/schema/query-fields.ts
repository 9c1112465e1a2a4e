import { type GraphQLFieldConfig, GraphQLList, GraphQLNonNull, type GraphQLObjectType, GraphQLString } from 'graphql';
import { bindingExtensions } from './binding.ts';
import { keyArgumentType } from './keys.ts';
import { listArguments } from './list-arguments.ts';
import type { GraphqlCollectionNames } from './schema-names.ts';
import type { TypeRegistry } from './type-registry.ts';

export type RootFieldConfigs = [name: string, config: GraphQLFieldConfig<unknown, unknown>][];

const TEXT_LIST = new GraphQLList(GraphQLString);

/** A non-null list of non-null entries. */
export const nonNullList = (type: GraphQLObjectType) => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));

/** The fields of `Query` for collections: lists, rows by key, groups. */
export const createQueryFields = (types: TypeRegistry): RootFieldConfigs =>
  [...types.model.names.collections.values()].flatMap((named) => createFields(types, named));

function createFields(
  types: TypeRegistry,
  { collection, rootName, description }: GraphqlCollectionNames,
): RootFieldConfigs {
  const { name } = collection;
  const key = keyArgumentType(types, collection);
  const type = types.get('object', name);
  if (rootName === null || !type) return [];
  if (collection.singleton)
    return [[rootName, { type, description, extensions: bindingExtensions({ kind: 'singleton', collection: name }) }]];
  const args = listArguments(types, name);
  const fields: RootFieldConfigs = [
    [
      rootName,
      { type: nonNullList(type), description, args, extensions: bindingExtensions({ kind: 'list', collection: name }) },
    ],
  ];
  if (key)
    fields.push([
      `${rootName}_by_id`,
      {
        type,
        args: { id: { type: new GraphQLNonNull(key) } },
        extensions: bindingExtensions({ kind: 'by id', collection: name }),
      },
    ]);
  const groups = types.get('groups', name);
  if (groups)
    fields.push([
      `${rootName}_aggregated`,
      {
        type: nonNullList(groups),
        args: { groupBy: { type: TEXT_LIST }, ...args },
        extensions: bindingExtensions({ kind: 'aggregated', collection: name }),
      },
    ]);
  return fields;
}
