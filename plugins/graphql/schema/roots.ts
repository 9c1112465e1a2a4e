import { type GraphQLFieldConfig, GraphQLList, GraphQLNonNull, type GraphQLObjectType, GraphQLString } from 'graphql';
import { bound } from './binding.ts';
import { keyArgument } from './keys.ts';
import { listArguments } from './list-arguments.ts';
import type { Named } from './names.ts';
import type { Types } from './types.ts';

export type RootFields = [name: string, config: GraphQLFieldConfig<unknown, unknown>][];

const TEXTS = new GraphQLList(GraphQLString);

/** There whether or not it has entries, and without holes. */
export const listOf = (type: GraphQLObjectType) => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));

/** What `Query` has of the collections: lists, rows by key, groups. */
export const readFields = (types: Types): RootFields =>
  [...types.model.names.collections.values()].flatMap((named) => fieldsOf(types, named));

function fieldsOf(types: Types, { collection, root, description }: Named): RootFields {
  const { name } = collection;
  const key = keyArgument(types, collection);
  const type = types.of('object', name);
  if (root === null || !type) return [];
  if (collection.singleton)
    return [[root, { type, description, extensions: bound({ kind: 'singleton', collection: name }) }]];
  const args = listArguments(types, name);
  const fields: RootFields = [
    [root, { type: listOf(type), description, args, extensions: bound({ kind: 'list', collection: name }) }],
  ];
  if (key)
    fields.push([
      `${root}_by_id`,
      { type, args: { id: { type: new GraphQLNonNull(key) } }, extensions: bound({ kind: 'by id', collection: name }) },
    ]);
  const groups = types.of('groups', name);
  if (groups)
    fields.push([
      `${root}_aggregated`,
      {
        type: listOf(groups),
        args: { groupBy: { type: TEXTS }, ...args },
        extensions: bound({ kind: 'aggregated', collection: name }),
      },
    ]);
  return fields;
}
