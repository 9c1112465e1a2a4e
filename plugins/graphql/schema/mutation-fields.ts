import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { keyColumns } from '../../query/library.ts';
import { createFieldBindingExtensions, type RootFieldBinding } from './field-bindings.ts';
import { keyArgumentType } from './key-input-types.ts';
import { createListFieldArguments } from './list-arguments.ts';
import { nonNullList, type RootFieldConfigs } from './query-fields.ts';
import type { GraphqlCollectionNames } from './schema-names.ts';
import { DELETE_MANY_TYPE, DELETE_ONE_TYPE } from './shared-types.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

type WriteKind = Extract<RootFieldBinding, { returnsRows: boolean }>['kind'];

/** The fields of `Mutation` for collections: the verbs that the collection has and the caller is permitted. */
export const createMutationFields = (types: CollectionGraphqlTypeRegistry): RootFieldConfigs =>
  [...types.model.names.collections.values()].flatMap((named) => createFields(types, named));

function createFields(
  types: CollectionGraphqlTypeRegistry,
  { collection, rootName, fields }: GraphqlCollectionNames,
): RootFieldConfigs {
  const { name, kind, singleton } = collection;
  if (rootName === null || kind !== 'table') return [];
  const type = types.get('object', name);
  const returnsRows = type !== undefined;
  const list = returnsRows ? createListFieldArguments(types, name) : {};
  const bind = (kind: WriteKind) => createFieldBindingExtensions({ kind, collection: name, returnsRows });
  const singleField = (kind: WriteKind, args: GraphQLFieldConfigArgumentMap) => ({
    type: type ?? GraphQLBoolean,
    args,
    extensions: bind(kind),
  });
  const listField = (kind: WriteKind, args: GraphQLFieldConfigArgumentMap) => ({
    type: type ? nonNullList(type) : GraphQLBoolean,
    args: { ...args, ...list },
    extensions: bind(kind),
  });

  const key = keyArgumentType(types, collection);
  const id = key && { id: { type: new GraphQLNonNull(key) } };
  const ids = key && { ids: { type: new GraphQLNonNull(new GraphQLList(key)) } };
  const mutationFields: RootFieldConfigs = [];
  const createInput = singleton ? undefined : types.get('create', name);
  if (createInput && types.model.isAllowed('create', name))
    mutationFields.push(
      [`create_${rootName}_item`, singleField('create one', { data: rowArgument(createInput) })],
      [`create_${rootName}_items`, listField('create many', { data: rowsArgument(createInput) })],
    );
  const updateInput = types.get('update', name);
  if (updateInput && singleton)
    mutationFields.push([`update_${rootName}`, singleField('update singleton', { data: rowArgument(updateInput) })]);
  if (updateInput && !singleton && id && ids) {
    mutationFields.push(
      [`update_${rootName}_item`, singleField('update one', { ...id, data: rowArgument(updateInput) })],
      [`update_${rootName}_items`, listField('update many', { ...ids, data: rowArgument(updateInput) })],
    );
    // A batch needs the key in each row.
    if (keyColumns(collection).every((column) => fields.some((field) => field.name === column.name)))
      mutationFields.push([`update_${rootName}_batch`, listField('update each', { data: rowsArgument(updateInput) })]);
  }
  if (!singleton && id && ids && types.model.isAllowed('delete', name))
    mutationFields.push(
      [`delete_${rootName}_item`, { type: DELETE_ONE_TYPE, args: id, extensions: bind('delete one') }],
      [`delete_${rootName}_items`, { type: DELETE_MANY_TYPE, args: ids, extensions: bind('delete many') }],
    );
  return mutationFields;
}

const rowArgument = (type: GraphQLInputObjectType) => ({ type: new GraphQLNonNull(type) });
/** Nullable (conventions, "Mutations"): documents declare variables of this type, and a missing list writes nothing. */
const rowsArgument = (type: GraphQLInputObjectType) => ({ type: new GraphQLList(new GraphQLNonNull(type)) });
