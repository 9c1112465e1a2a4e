import {
  type FieldNode,
  type GraphQLField,
  GraphQLObjectType,
  GraphQLUnionType,
  getArgumentValues,
  getNamedType,
} from 'graphql';
import { fail } from '#kernel';
import type { Selected, Selection, Terms } from '../../query/contract.ts';
import { bindingOf, collectionOf } from '../schema/binding.ts';
import { type Collected, collect, type Reading, setsOf } from './collect.ts';
import { termsOf } from './terms.ts';

/** What a document may ask at most, and what is found in it on the way. */
export interface Translating extends Reading {
  /** Relations inside each other, and the field behind them. */
  readonly deepest: number;
  /** Told of the conditions of every node, with the collection they are about. */
  readonly onTerms?: (collection: string, terms: Terms) => void;
}

/** What a field of a collection's type asks of its rows, list arguments included. */
export function selectionOf(
  reading: Translating,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
): Selection {
  return selection(reading, field, nodes, objectTypeOf(field), 0);
}

function selection(
  reading: Translating,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
  type: GraphQLObjectType,
  depth: number,
): Selection {
  if (depth > reading.deepest)
    throw fail(
      'INVALID_QUERY',
      `${nodes[0].name.value}: is ${depth} levels deep, more than the ${reading.deepest} allowed`,
    );
  const terms = termsOf(reading, field, nodes[0]);
  if (terms) reading.onTerms?.(collectionOf(type), terms);
  return { ...(terms ? { terms } : {}), shown: shownOf(reading, type, nodes, depth) };
}

const shownOf = (
  reading: Translating,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  depth: number,
): readonly Selected[] => collect(reading, type, setsOf(nodes)).map((one) => selected(reading, type, one, depth));

function selected(reading: Translating, type: GraphQLObjectType, one: Collected, depth: number): Selected {
  const { key, field, nodes } = one;
  if (field.name === '__typename') return { kind: 'constant', key, value: type.name };
  const binding = bindingOf(field);
  switch (binding?.kind) {
    case 'column':
      return { ...binding, key };
    case 'functions': {
      const inner = objectTypeOf(field);
      const shown = collect(reading, inner, setsOf(nodes)).map((fn) => functionOf(reading, inner, binding.field, fn));
      return { kind: 'object', key, shown };
    }
    case 'related': {
      const related = selection(reading, field, nodes, objectTypeOf(field), depth + 1);
      return { kind: 'related', key, field: binding.field, selection: related };
    }
    case 'any': {
      const of = targetsOf(field).map((target) => [
        collectionOf(target),
        selection(reading, field, nodes, target, depth + 1),
      ]);
      return { kind: 'any', key, field: binding.field, of: Object.fromEntries(of) };
    }
    default:
      throw new Error(`${type.name}.${field.name} stands for nothing in a row`);
  }
}

/** The only argument is where inside a JSON value: that of `json`. */
function functionOf(reading: Reading, type: GraphQLObjectType, of: string, { key, field, nodes }: Collected): Selected {
  if (field.name === '__typename') return { kind: 'constant', key, value: type.name };
  const binding = bindingOf(field);
  if (binding?.kind !== 'function') throw new Error(`${type.name}.${field.name} is no function`);
  const { path } = getArgumentValues(field, nodes[0], reading.variables);
  const fn = { name: binding.fn, ...(path === undefined ? {} : { path: String(path) }) };
  return { kind: 'column', key, field: of, fn };
}

export function objectTypeOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type = getNamedType(field.type);
  if (type instanceof GraphQLObjectType) return type;
  throw new Error(`${field.name} is not of an object type`);
}

function targetsOf(field: GraphQLField<unknown, unknown>): readonly GraphQLObjectType[] {
  const type = getNamedType(field.type);
  if (type instanceof GraphQLUnionType) return type.getTypes();
  throw new Error(`${field.name} is not of a union type`);
}
