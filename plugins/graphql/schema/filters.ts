import { type GraphQLInputFieldConfig, GraphQLInputObjectType, GraphQLList } from 'graphql';
import { FILTER_OPERATORS } from '../../query/contract.ts';
import type { Field } from '../../schema/contract.ts';
import { inputFieldExtensions, NO_GRAPHQL_EXTENSIONS } from './field-bindings.ts';
import { functionGroupOf } from './field-function-types.ts';
import { columnEnumOf, isPrimaryKey } from './field-type.ts';
import { FUNCTION_OPERATORS, filterOperatorsInputOf, OPERATOR_INPUTS_BY_VALUE_KIND } from './operators.ts';
import { type GrantedField, manyToAnyTargets } from './permitted-collections-and-fields.ts';
import {
  type GraphqlCollectionNames,
  graphqlFieldDescription,
  graphqlFieldName,
  graphqlTypeName,
} from './schema-names.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

type FilterEntry = readonly [name: string, config: GraphQLInputFieldConfig];

/** Words of the filter language; a field with such a name has no entry. */
const RESERVED_WORDS: ReadonlySet<string> = new Set([...FILTER_OPERATORS, '_and', '_or', '_some', '_none', '_json']);

/** The filter input of a collection: one entry for each field, combined with "and". */
export function createCollectionFilterInput(
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): GraphQLInputObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  if (!named || !types.model.readable.has(collection)) return undefined;
  const type: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: graphqlTypeName('filter', named.name),
    fields: () => ({ ...createEntries(types, collection), _and: filterList(type), _or: filterList(type) }),
  });
  return type;
}

/** The filter input of a to-many relation, where an entry without quantifier means `_some`. */
export function createToManyFilterInput(
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): GraphQLInputObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  const filter = types.get('filter', collection);
  if (!named || !filter) return undefined;
  const rows = { type: filter, extensions: NO_GRAPHQL_EXTENSIONS };
  return new GraphQLInputObjectType({
    name: graphqlTypeName('quantifier', named.name),
    fields: () => ({ ...filter.getFields(), _some: rows, _none: rows }),
  });
}

const filterList = (filter: GraphQLInputObjectType): GraphQLInputFieldConfig => ({
  type: new GraphQLList(filter),
  extensions: NO_GRAPHQL_EXTENSIONS,
});

function createEntries(
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): Record<string, GraphQLInputFieldConfig> {
  const named = types.model.names.collections.get(collection);
  const readableFields = types.model.readable.get(collection) ?? [];
  if (!named) return {};
  const filterableFields = readableFields.filter(({ field }) => !RESERVED_WORDS.has(field.name));
  const fieldEntries = filterableFields.flatMap((one) => createFieldEntries(types, named, one));
  const takenNames = new Set(fieldEntries.map(([name]) => name));
  // `<field>__<collection>` may be the name of another field.
  const manyToAnyEntries = filterableFields
    .flatMap((one) => createManyToAnyEntries(types, named, one))
    .filter(([name]) => !takenNames.has(name));
  return Object.fromEntries([...fieldEntries, ...manyToAnyEntries]);
}

function createFieldEntries(
  types: CollectionGraphqlTypeRegistry,
  named: GraphqlCollectionNames,
  { field }: GrantedField,
): readonly FilterEntry[] {
  const { relation, name } = field;
  const entries: FilterEntry[] = [];
  const target =
    relation?.kind === 'one'
      ? types.get('filter', relation.to)
      : relation?.kind === 'many'
        ? types.get('quantifier', relation.to)
        : undefined;
  // A many-to-any stores keys of several types as texts.
  const type =
    target ??
    (relation?.kind === 'any'
      ? OPERATOR_INPUTS_BY_VALUE_KIND.string
      : (scalarEnumOf(types, named, field)?.operators ??
        filterOperatorsInputOf(field, isPrimaryKey(named.collection, field))));
  const called = graphqlFieldName(named, field);
  const extensions = called === name ? NO_GRAPHQL_EXTENSIONS : inputFieldExtensions({ kind: 'key', key: name });
  entries.push([called, { type, description: graphqlFieldDescription(named, field), extensions }]);
  const companion = named.companions.get(name);
  const group = functionGroupOf(field);
  if (companion !== undefined && group)
    entries.push([
      companion,
      { type: FUNCTION_OPERATORS[group], extensions: inputFieldExtensions({ kind: 'functions', field: name }) },
    ]);
  return entries;
}

const createManyToAnyEntries = (
  types: CollectionGraphqlTypeRegistry,
  named: GraphqlCollectionNames,
  { field }: GrantedField,
): readonly FilterEntry[] =>
  manyToAnyTargets(types.model, named.collection, field).flatMap((target): readonly FilterEntry[] => {
    const type = types.get('filter', target);
    const to = types.model.names.collections.get(target);
    const key = `${field.name}:${target}`;
    return type && to
      ? [
          [
            `${graphqlFieldName(named, field)}__${to.name}`,
            { type, extensions: inputFieldExtensions({ kind: 'key', key }) },
          ],
        ]
      : [];
  });

/** The enum of a field; none for an array, which is compared as a whole. */
const scalarEnumOf = (types: CollectionGraphqlTypeRegistry, { collection }: GraphqlCollectionNames, field: Field) =>
  field.column?.array ? undefined : columnEnumOf(types.model.names.enums, collection, field);
