import type { GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';
import {
  createAggregatedObjectType,
  createFieldCountsObjectType,
  createNumericAggregatesType,
} from './aggregated-types.ts';
import { createCollectionFilterInput, createToManyFilterInput } from './filters.ts';
import { inputTypeForCreate, inputTypeForNested, inputTypeForUpdate } from './inputs.ts';
import { createKeyInputType } from './key-input-types.ts';
import { createRowObjectType } from './object-types.ts';
import type { PermittedSchemaModel } from './permitted-collections-and-fields.ts';
import { createRowChangeObjectType } from './row-change-types.ts';
import type { CollectionGraphqlTypeKind } from './schema-names.ts';

type TypeByKind = {
  readonly [K in CollectionGraphqlTypeKind]: K extends 'object' | 'groups' | 'counts' | 'numbers' | 'change'
    ? GraphQLObjectType
    : GraphQLInputObjectType;
};

/** The GraphQL types derived from collections, each built on first use. Undefined: the caller has no fields for it. */
export interface CollectionGraphqlTypeRegistry {
  readonly model: PermittedSchemaModel;
  get<K extends CollectionGraphqlTypeKind>(kind: K, collection: string): TypeByKind[K] | undefined;
  /** A type by its name. */
  findByName(name: string): GraphQLNamedType | undefined;
}

const TYPE_BUILDERS: {
  readonly [K in CollectionGraphqlTypeKind]: (
    types: CollectionGraphqlTypeRegistry,
    collection: string,
  ) => TypeByKind[K] | undefined;
} = {
  object: createRowObjectType,
  filter: createCollectionFilterInput,
  quantifier: createToManyFilterInput,
  groups: createAggregatedObjectType,
  counts: createFieldCountsObjectType,
  numbers: createNumericAggregatesType,
  create: inputTypeForCreate,
  update: inputTypeForUpdate,
  nested: inputTypeForNested,
  key: createKeyInputType,
  change: createRowChangeObjectType,
};

export function createCollectionGraphqlTypeRegistry(model: PermittedSchemaModel): CollectionGraphqlTypeRegistry {
  const built = new Map<string, GraphQLNamedType | undefined>();
  const types: CollectionGraphqlTypeRegistry = {
    model,
    get<K extends CollectionGraphqlTypeKind>(kind: K, collection: string) {
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
