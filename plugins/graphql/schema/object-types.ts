import { type GraphQLFieldConfig, GraphQLList, GraphQLObjectType, GraphQLString, GraphQLUnionType } from 'graphql';
import type { Field } from '../../schema/contract.ts';
import { bound, boundCollection } from './binding.ts';
import { formOf, leafType, withNull } from './field-type.ts';
import { FUNCTION_TYPES, functionGroupOf, jsonFunctions } from './functions.ts';
import { listArguments } from './list-arguments.ts';
import { type Granted, targetsOf } from './model.ts';
import { fieldDescription, fieldName, type Named } from './names.ts';
import type { Types } from './types.ts';

type Config = GraphQLFieldConfig<unknown, unknown>;
type Entries = [name: string, config: Config][];

/** A row of a collection. */
export function objectType(types: Types, name: string): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(name);
  const shown = types.model.readable.get(name);
  if (!named || !shown) return undefined;
  return new GraphQLObjectType({
    name: named.name,
    description: named.description,
    extensions: boundCollection(name),
    fields: () => Object.fromEntries(shown.flatMap((one) => entriesOf(types, named, one))),
  });
}

function entriesOf(types: Types, named: Named, granted: Granted): Entries {
  const { field } = granted;
  const config = { description: fieldDescription(named, field), ...shownAs(types, named, granted) };
  const companion = named.companions.get(field.name);
  const functions = companion === undefined ? undefined : functionsOf(named, field);
  return [[fieldName(named, field), config], ...(functions ? [[companion, functions] as Entries[number]] : [])];
}

function shownAs(types: Types, named: Named, { field, counts }: Granted): Config {
  const { collection } = named;
  const { name, relation } = field;
  const target = relation && relation.kind !== 'any' ? types.of('object', relation.to) : undefined;
  // A row behind a many-to-one that does not match is null; what orders and cuts lists changes nothing about one row.
  if (target && relation && relation.kind !== 'any')
    return {
      type: relation.kind === 'many' ? new GraphQLList(target) : target,
      args: listArguments(types, relation.to),
      extensions: bound({ kind: 'related', field: name }),
    };
  const union = relation?.kind === 'any' ? unionOf(types, named, field) : undefined;
  if (union) return { type: union, extensions: bound({ kind: 'any', field: name }) };
  // Keys of several types share the column of a many-to-any.
  const type = relation?.kind === 'any' ? GraphQLString : leafType(types.model.names.enums, collection, field);
  return {
    type: withNull(collection, field, type, counts),
    extensions: bound({ kind: 'column', field: name, ...formOf(field, type) }),
  };
}

function unionOf(types: Types, { collection, fieldTypes }: Named, field: Field): GraphQLUnionType | undefined {
  const members = targetsOf(types.model, collection, field).flatMap((name) => types.of('object', name) ?? []);
  const name = fieldTypes.get(field.name);
  return name !== undefined && members.length > 0 ? new GraphQLUnionType({ name, types: members }) : undefined;
}

function functionsOf({ fieldTypes }: Named, field: Field): Config | undefined {
  const group = functionGroupOf(field);
  if (!group) return undefined;
  const type = group === 'json' ? jsonFunctions(fieldTypes.get(field.name) as string) : FUNCTION_TYPES[group];
  return { type, extensions: bound({ kind: 'functions', field: field.name }) };
}
