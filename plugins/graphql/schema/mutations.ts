import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { keyColumns } from '../../query/library.ts';
import { bound, type RootBinding } from './binding.ts';
import { keyArgument } from './keys.ts';
import { listArguments } from './list-arguments.ts';
import type { Named } from './names.ts';
import { listOf, type RootFields } from './roots.ts';
import { DELETE_MANY, DELETE_ONE } from './shared-types.ts';
import type { Types } from './types.ts';

type Write = Extract<RootBinding, { shown: boolean }>['kind'];

/** What `Mutation` has of the collections: what the service offers of them and the caller may do. */
export const writeFields = (types: Types): RootFields =>
  [...types.model.names.collections.values()].flatMap((named) => fieldsOf(types, named));

function fieldsOf(types: Types, { collection, root, fields }: Named): RootFields {
  const { name, kind, singleton } = collection;
  if (root === null || kind !== 'table') return [];
  const type = types.of('object', name);
  const shown = type !== undefined;
  const list = shown ? listArguments(types, name) : {};
  const as = (kind: Write) => bound({ kind, collection: name, shown });
  const one = (kind: Write, args: GraphQLFieldConfigArgumentMap) => ({
    type: type ?? GraphQLBoolean,
    args,
    extensions: as(kind),
  });
  const many = (kind: Write, args: GraphQLFieldConfigArgumentMap) => ({
    type: type ? listOf(type) : GraphQLBoolean,
    args: { ...args, ...list },
    extensions: as(kind),
  });

  const key = keyArgument(types, collection);
  const id = key && { id: { type: new GraphQLNonNull(key) } };
  const ids = key && { ids: { type: new GraphQLNonNull(new GraphQLList(key)) } };
  const found: RootFields = [];
  const created = singleton ? undefined : types.of('create', name);
  if (created && types.model.may('create', name))
    found.push(
      [`create_${root}_item`, one('create one', { data: row(created) })],
      [`create_${root}_items`, many('create many', { data: rows(created) })],
    );
  const updated = types.of('update', name);
  if (updated && singleton) found.push([`update_${root}`, one('update singleton', { data: row(updated) })]);
  if (updated && !singleton && id && ids) {
    found.push(
      [`update_${root}_item`, one('update one', { ...id, data: row(updated) })],
      [`update_${root}_items`, many('update many', { ...ids, data: row(updated) })],
    );
    // Each row says by its key which one it is.
    if (keyColumns(collection).every((column) => fields.some((field) => field.name === column.name)))
      found.push([`update_${root}_batch`, many('update each', { data: rows(updated) })]);
  }
  if (!singleton && id && ids && types.model.may('delete', name))
    found.push(
      [`delete_${root}_item`, { type: DELETE_ONE, args: id, extensions: as('delete one') }],
      [`delete_${root}_items`, { type: DELETE_MANY, args: ids, extensions: as('delete many') }],
    );
  return found;
}

const row = (type: GraphQLInputObjectType) => ({ type: new GraphQLNonNull(type) });
/** May be left out (conventions, "Mutations"): documents declare variables of that type, and no rows are no work. */
const rows = (type: GraphQLInputObjectType) => ({ type: new GraphQLList(new GraphQLNonNull(type)) });
