import type { GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';
import { aggregatedType, countsType, numbersType } from './aggregated.ts';
import { filterType, quantifierType } from './filters.ts';
import { createType, nestedType, updateType } from './inputs.ts';
import { keyType } from './keys.ts';
import type { Model } from './model.ts';
import type { TypeKind } from './names.ts';
import { objectType } from './object-types.ts';

type Kinds = {
  readonly [K in TypeKind]: K extends 'object' | 'groups' | 'counts' | 'numbers'
    ? GraphQLObjectType
    : GraphQLInputObjectType;
};

/** The types made of collections, each when it is first asked for. Undefined: callers have nothing to put into it. */
export interface Types {
  readonly model: Model;
  of<K extends TypeKind>(kind: K, collection: string): Kinds[K] | undefined;
  /** By what it is called. */
  named(name: string): GraphQLNamedType | undefined;
}

const MAKERS: { readonly [K in TypeKind]: (types: Types, collection: string) => Kinds[K] | undefined } = {
  object: objectType,
  filter: filterType,
  quantifier: quantifierType,
  groups: aggregatedType,
  counts: countsType,
  numbers: numbersType,
  create: createType,
  update: updateType,
  nested: nestedType,
  key: keyType,
};

export function createTypes(model: Model): Types {
  const made = new Map<string, GraphQLNamedType | undefined>();
  const types: Types = {
    model,
    of<K extends TypeKind>(kind: K, collection: string) {
      const key = `${kind} ${collection}`;
      if (!made.has(key)) made.set(key, MAKERS[kind](types, collection));
      return made.get(key) as Kinds[K] | undefined;
    },
    named(name) {
      const known = model.names.types.get(name);
      return known && types.of(known.kind, known.collection);
    },
  };
  return types;
}
