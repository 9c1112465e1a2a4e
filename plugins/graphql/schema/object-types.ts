import { type GraphQLFieldConfig, GraphQLList, GraphQLObjectType, GraphQLString, GraphQLUnionType } from 'graphql';
import type { Collection, Field } from '../../schema/contract.ts';
import { bound } from './binding.ts';
import { formOf, leafType, withNull } from './field-type.ts';
import { FUNCTION_TYPES, functionGroupOf, jsonFunctions } from './functions.ts';
import { listArguments } from './list-arguments.ts';
import { type Granted, targetsOf } from './model.ts';
import { companionName, functionsName, type Named, unionName } from './names.ts';
import type { Types } from './types.ts';

type Config = GraphQLFieldConfig<unknown, unknown>;
type Entries = [name: string, config: Config][];

/** A row of a collection. */
export function objectType(types: Types, name: string): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(name);
  const shown = types.model.readable.get(name);
  if (!named || !shown) return undefined;
  return new GraphQLObjectType({
    name,
    description: named.collection.meta?.note,
    fields: () => Object.fromEntries(shown.flatMap((one) => entriesOf(types, named, one))),
  });
}

function entriesOf(types: Types, named: Named, granted: Granted): Entries {
  const { field } = granted;
  const config = { description: field.meta?.note, ...shownAs(types, named.collection, granted) };
  const functions = named.companions.has(field.name) ? functionsOf(named.collection, field) : undefined;
  return [[field.name, config], ...(functions ? [[companionName(field.name), functions] as Entries[number]] : [])];
}

function shownAs(types: Types, collection: Collection, { field, counts }: Granted): Config {
  const { name, relation } = field;
  const target = relation && relation.kind !== 'any' ? types.of('object', relation.to) : undefined;
  // A row behind a many-to-one that does not match is null; what orders and cuts lists changes nothing about one row.
  if (target && relation)
    return {
      type: relation.kind === 'many' ? new GraphQLList(target) : target,
      args: listArguments(types, target.name),
      extensions: bound({ kind: 'related', field: name }),
    };
  const union = relation?.kind === 'any' ? unionOf(types, collection, field) : undefined;
  if (union) return { type: union, extensions: bound({ kind: 'any', field: name }) };
  // Keys of several types share the column of a many-to-any.
  const type = relation?.kind === 'any' ? GraphQLString : leafType(collection, field);
  return {
    type: withNull(collection, field, type, counts),
    extensions: bound({ kind: 'column', field: name, ...formOf(field, type) }),
  };
}

function unionOf(types: Types, collection: Collection, field: Field): GraphQLUnionType | undefined {
  const members = targetsOf(types.model, collection, field).flatMap((name) => types.of('object', name) ?? []);
  return members.length > 0
    ? new GraphQLUnionType({ name: unionName(collection.name, field.name), types: members })
    : undefined;
}

function functionsOf(collection: Collection, field: Field): Config | undefined {
  const group = functionGroupOf(field);
  if (!group) return undefined;
  const type = group === 'json' ? jsonFunctions(functionsName(collection.name, field.name)) : FUNCTION_TYPES[group];
  return { type, extensions: bound({ kind: 'functions', field: field.name }) };
}
