import type { GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';
import { aggregatedType, countsType, createNumericAggregatesType } from './aggregated.ts';
import { filterType, quantifierType } from './filters.ts';
import { inputTypeForCreate, inputTypeForNested, inputTypeForUpdate } from './inputs.ts';
import { createKeyInputType } from './keys.ts';
import { objectType } from './object-types.ts';
import type { SchemaModel } from './schema-model.ts';
import type { TypeKind } from './schema-names.ts';

type TypeByKind = {
  readonly [K in TypeKind]: K extends 'object' | 'groups' | 'counts' | 'numbers'
    ? GraphQLObjectType
    : GraphQLInputObjectType;
};

/** The GraphQL types derived from collections, each built on first use. Undefined: the caller has no fields for it. */
export interface TypeRegistry {
  readonly model: SchemaModel;
  get<K extends TypeKind>(kind: K, collection: string): TypeByKind[K] | undefined;
  /** A type by its name. */
  findByName(name: string): GraphQLNamedType | undefined;
}

const TYPE_BUILDERS: {
  readonly [K in TypeKind]: (types: TypeRegistry, collection: string) => TypeByKind[K] | undefined;
} = {
  object: objectType,
  filter: filterType,
  quantifier: quantifierType,
  groups: aggregatedType,
  counts: countsType,
  numbers: createNumericAggregatesType,
  create: inputTypeForCreate,
  update: inputTypeForUpdate,
  nested: inputTypeForNested,
  key: createKeyInputType,
};

export function createTypeRegistry(model: SchemaModel): TypeRegistry {
  const built = new Map<string, GraphQLNamedType | undefined>();
  const types: TypeRegistry = {
    model,
    get<K extends TypeKind>(kind: K, collection: string) {
      const key = `${kind} ${collection}`;
      if (!built.has(key)) built.set(key, TYPE_BUILDERS[kind](types, collection));
      return built.get(key) as TypeByKind[K] | undefined;
    },
    findByName(name) {
      const owner = model.names.types.get(name);
      return owner && types.get(owner.kind, owner.collection);
    },
  };
  return types;
}
