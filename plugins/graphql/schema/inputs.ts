import {
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import { inputFieldExtensions, NO_GRAPHQL_EXTENSIONS } from './field-bindings.ts';
import { graphqlLeafTypeOf } from './field-type.ts';
import type { PermittedSchemaModel } from './permitted-collections-and-fields.ts';
import { graphqlFieldDescription, graphqlFieldName, graphqlTypeName } from './schema-names.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

/** The input of a row to create. */
export function inputTypeForCreate(
  types: CollectionGraphqlTypeRegistry,
  name: string,
): GraphQLInputObjectType | undefined {
  const { model } = types;
  const preset = new Set(model.permissions.of(name, 'create').flatMap(({ presets }) => Object.keys(presets ?? {})));
  const jointColumns = new Set(
    model.names.collections.get(name)?.collection.compositeForeignKeys.flatMap(({ parts }) => parts ?? []),
  );
  // Columns of a composite foreign key may be set by its field instead.
  const isNonNull = (field: Field) => isRequired(field) && !preset.has(field.name) && !jointColumns.has(field);
  return buildInputType(types, 'create', name, writableFieldsOf(model, name, ['create']), isNonNull);
}

/** The input of a row to update, with the key for batches. */
export function inputTypeForUpdate(
  types: CollectionGraphqlTypeRegistry,
  name: string,
): GraphQLInputObjectType | undefined {
  const fields = writableFieldsOf(types.model, name, ['update']);
  return fields.length > 0 ? buildInputType(types, 'update', name, withKey(types.model, name, fields)) : undefined;
}

/** The input of a related row: with its key it is linked and updated, without it is created. */
export function inputTypeForNested(
  types: CollectionGraphqlTypeRegistry,
  name: string,
): GraphQLInputObjectType | undefined {
  const { model } = types;
  if (!model.isAllowed('create', name) && !model.isAllowed('update', name)) return undefined;
  return buildInputType(
    types,
    'nested',
    name,
    withKey(model, name, writableFieldsOf(model, name, ['create', 'update'])),
  );
}

/** The writable fields in the order of the collection. */
function writableFieldsOf(
  model: PermittedSchemaModel,
  name: string,
  verbs: readonly ('create' | 'update')[],
): readonly Field[] {
  const granted = new Set(verbs.flatMap((verb) => model.writableFields(verb, name)).map(({ field }) => field));
  return (model.names.collections.get(name)?.fields ?? []).filter((field) => granted.has(field));
}

function withKey(model: PermittedSchemaModel, name: string, fields: readonly Field[]): readonly Field[] {
  const { collection, fields: all } = model.names.collections.get(name) ?? {};
  const key = new Set(collection ? keyColumns(collection).map((field) => field.name) : []);
  return (all ?? []).filter((field) => key.has(field.name) || fields.includes(field));
}

function buildInputType(
  types: CollectionGraphqlTypeRegistry,
  kind: 'create' | 'update' | 'nested',
  name: string,
  fields: readonly Field[],
  isNonNull: (field: Field) => boolean = () => false,
): GraphQLInputObjectType | undefined {
  const named = types.model.names.collections.get(name);
  // An input with only lists could become empty, when their rows may not be written.
  if (!named || !fields.some(({ column }) => column)) return undefined;
  return new GraphQLInputObjectType({
    name: graphqlTypeName(kind, named.name),
    description: named.description,
    fields: () =>
      Object.fromEntries(
        fields.flatMap((field) => {
          const type = valueType(types, named.collection, field);
          if (!type) return [];
          const fieldAlias = graphqlFieldName(named, field);
          const config: GraphQLInputFieldConfig = {
            type: isNonNull(field) ? new GraphQLNonNull(type) : type,
            description: graphqlFieldDescription(named, field),
            extensions:
              fieldAlias === field.name
                ? NO_GRAPHQL_EXTENSIONS
                : inputFieldExtensions({ kind: 'key', key: field.name }),
          };
          return [[fieldAlias, config]];
        }),
      ),
  });
}

/** The input type of the value of a field; undefined for a list of rows that the caller may not write. */
function valueType(types: CollectionGraphqlTypeRegistry, collection: Collection, field: Field) {
  const { relation } = field;
  if (relation?.kind === 'any') return GraphQLString;
  const nested = relation ? types.get('nested', relation.to) : undefined;
  if (relation?.kind === 'many') return nested && new GraphQLList(nested);
  return nested ?? graphqlLeafTypeOf(types.model.names.enums, collection, field);
}

/** `special` flags of values that the service sets when it creates a row. */
const SET_BY_SERVICE: readonly string[] = ['uuid', 'date-created', 'user-created', 'role-created'];

/** Whether neither the database nor the service sets a value. */
const isRequired = ({ column, special }: Field): boolean =>
  column !== null &&
  !column.nullable &&
  column.default === null &&
  !column.generated &&
  !column.autoIncrement &&
  !special.some((one) => SET_BY_SERVICE.includes(one));
