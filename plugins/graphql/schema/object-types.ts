import { type GraphQLFieldConfig, GraphQLList, GraphQLObjectType, GraphQLString, GraphQLUnionType } from 'graphql';
import type { Field } from '../../schema/contract.ts';
import { collectionTypeExtensions, createFieldBindingExtensions } from './field-bindings.ts';
import { createJsonFunctionsType, FUNCTION_TYPES, functionGroupOf } from './field-function-types.ts';
import { graphqlLeafTypeOf, graphqlOutputFormatOf, withNullability } from './field-type.ts';
import { createListFieldArguments } from './list-arguments.ts';
import { type GrantedField, manyToAnyTargets } from './permitted-collections-and-fields.ts';
import { type GraphqlCollectionNames, graphqlFieldDescription, graphqlFieldName } from './schema-names.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;
type FieldEntries = [name: string, config: FieldConfig][];

/** The GraphQL object type of the rows of a collection. */
export function createRowObjectType(types: CollectionGraphqlTypeRegistry, name: string): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(name);
  const readableFields = types.model.readable.get(name);
  if (!named || !readableFields) return undefined;
  return new GraphQLObjectType({
    name: named.name,
    description: named.description,
    extensions: collectionTypeExtensions(name),
    fields: () => Object.fromEntries(readableFields.flatMap((one) => createEntries(types, named, one))),
  });
}

function createEntries(
  types: CollectionGraphqlTypeRegistry,
  named: GraphqlCollectionNames,
  granted: GrantedField,
): FieldEntries {
  const { field } = granted;
  const config = { description: graphqlFieldDescription(named, field), ...createFieldConfig(types, named, granted) };
  const companion = named.companions.get(field.name);
  const functions = companion === undefined ? undefined : createCompanion(named, field);
  return [
    [graphqlFieldName(named, field), config],
    ...(functions ? [[companion, functions] as FieldEntries[number]] : []),
  ];
}

function createFieldConfig(
  types: CollectionGraphqlTypeRegistry,
  named: GraphqlCollectionNames,
  { field, availability }: GrantedField,
): FieldConfig {
  const { collection } = named;
  const { name, relation } = field;
  const target = relation && relation.kind !== 'any' ? types.get('object', relation.to) : undefined;
  // A many-to-one row that does not match the filter is null; arguments of order and paging have no effect on one row.
  if (target && relation && relation.kind !== 'any')
    return {
      type: relation.kind === 'many' ? new GraphQLList(target) : target,
      args: createListFieldArguments(types, relation.to),
      extensions: createFieldBindingExtensions({ kind: 'related', field: name }),
    };
  const union = relation?.kind === 'any' ? createUnion(types, named, field) : undefined;
  if (union) return { type: union, extensions: createFieldBindingExtensions({ kind: 'any', field: name }) };
  // The column of a many-to-any holds keys of several types.
  const type = relation?.kind === 'any' ? GraphQLString : graphqlLeafTypeOf(types.model.names.enums, collection, field);
  return {
    type: withNullability(collection, field, type, availability),
    extensions: createFieldBindingExtensions({ kind: 'column', field: name, ...graphqlOutputFormatOf(field, type) }),
  };
}

function createUnion(
  types: CollectionGraphqlTypeRegistry,
  { collection, fieldTypes }: GraphqlCollectionNames,
  field: Field,
): GraphQLUnionType | undefined {
  const members = manyToAnyTargets(types.model, collection, field).flatMap((name) => types.get('object', name) ?? []);
  const name = fieldTypes.get(field.name);
  return name !== undefined && members.length > 0 ? new GraphQLUnionType({ name, types: members }) : undefined;
}

function createCompanion({ fieldTypes }: GraphqlCollectionNames, field: Field): FieldConfig | undefined {
  const group = functionGroupOf(field);
  if (!group) return undefined;
  const type = group === 'json' ? createJsonFunctionsType(fieldTypes.get(field.name) as string) : FUNCTION_TYPES[group];
  return { type, extensions: createFieldBindingExtensions({ kind: 'functions', field: field.name }) };
}
