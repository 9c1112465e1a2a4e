import { type GraphQLFieldConfig, GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { keyColumns } from '../../query/library.ts';
import type { SubscriptionSource } from '../contract.ts';
import { createFieldBindingExtensions, type RowChangeFieldBinding } from './field-bindings.ts';
import type { RootFieldConfigs } from './query-fields.ts';
import { graphqlTypeName } from './schema-names.ts';
import { ROW_CHANGE_EVENT_ENUM } from './shared-types.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

/**
 * The fields of `Subscription`: `<c>_mutated(event: EventEnum)` for each readable collection whose changes are announced,
 * system collections included (conventions, "GraphQL subscriptions").
 */
export const createRowChangeFields = (
  types: CollectionGraphqlTypeRegistry,
  { isAnnounced }: SubscriptionSource,
): RootFieldConfigs =>
  [...types.model.names.collections.values()].flatMap(({ collection, name }): RootFieldConfigs => {
    const type = collection.hasKey && isAnnounced(collection) ? types.get('change', collection.name) : undefined;
    if (!type) return [];
    const extensions = createFieldBindingExtensions({ kind: 'row changes', collection: collection.name });
    return [[graphqlTypeName('change', name), { type, args: { event: { type: ROW_CHANGE_EVENT_ENUM } }, extensions }]];
  });

/**
 * The type of a change of a row. `key` is null for callers who may not read the key of every row, `data` is null where
 * the row was deleted.
 */
export function createRowChangeObjectType(
  types: CollectionGraphqlTypeRegistry,
  name: string,
): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(name);
  const row = types.get('object', name);
  if (!named || !row) return undefined;
  const always = new Set(
    types.model.readable
      .get(name)
      ?.filter(({ availability }) => availability === 'always')
      .map(({ field }) => field.name),
  );
  const isReadable = keyColumns(named.collection).every((part) => always.has(part.name));
  const bind = (binding: RowChangeFieldBinding) => createFieldBindingExtensions(binding);
  const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {
    key: {
      type: isReadable ? new GraphQLNonNull(GraphQLID) : GraphQLID,
      extensions: bind({ kind: 'changed key', isReadable }),
    },
    event: { type: ROW_CHANGE_EVENT_ENUM, extensions: bind({ kind: 'change event' }) },
    data: { type: row, extensions: bind({ kind: 'changed row' }) },
  };
  return new GraphQLObjectType({ name: graphqlTypeName('change', named.name), fields });
}
