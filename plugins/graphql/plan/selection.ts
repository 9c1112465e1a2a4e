import {
  type FieldNode,
  type GraphQLField,
  GraphQLObjectType,
  GraphQLUnionType,
  getArgumentValues,
  getNamedType,
} from 'graphql';
import { fail } from '#kernel';
import type { RowSelection, SelectionItem, SelectionListParameters } from '../../query/contract.ts';
import { collectionOfObjectType, graphqlFieldBindingOf } from '../schema/field-bindings.ts';
import { type CollectedField, collectFields, type GraphqlDocumentContext, selectionSetsOf } from './collect-fields.ts';
import { graphqlArgumentsToListParameters } from './list-parameters.ts';

/** The context of a document, with the limit of depth and a callback for list parameters. */
export interface GraphqlSelectionContext extends GraphqlDocumentContext {
  /** Levels of nested relations. */
  readonly maxDepth: number;
  /** Called with the list parameters of every node and its collection. */
  readonly onParameters?: (collection: string, terms: SelectionListParameters) => void;
}

/** Converts the subfields and list arguments of a field of a collection type into a selection of the engine. */
export function graphqlFieldToSelection(
  context: GraphqlSelectionContext,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
): RowSelection {
  return toSelectionAt(context, field, nodes, objectTypeOfField(field), 0);
}

function toSelectionAt(
  context: GraphqlSelectionContext,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
  type: GraphQLObjectType,
  depth: number,
): RowSelection {
  if (depth > context.maxDepth)
    throw fail(
      'INVALID_QUERY',
      `${nodes[0].name.value}: is ${depth} levels deep, more than the ${context.maxDepth} allowed`,
    );
  const parameters = graphqlArgumentsToListParameters(context, field, nodes[0]);
  if (parameters) context.onParameters?.(collectionOfObjectType(type), parameters);
  return { ...(parameters ? { parameters: parameters } : {}), items: toItems(context, type, nodes, depth) };
}

const toItems = (
  context: GraphqlSelectionContext,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  depth: number,
): readonly SelectionItem[] =>
  collectFields(context, type, selectionSetsOf(nodes)).map((one) => toItem(context, type, one, depth));

function toItem(
  context: GraphqlSelectionContext,
  type: GraphQLObjectType,
  collected: CollectedField,
  depth: number,
): SelectionItem {
  const { key, field, nodes } = collected;
  if (field.name === '__typename') return { kind: 'constant', key, value: type.name };
  const binding = graphqlFieldBindingOf(field);
  switch (binding?.kind) {
    case 'column':
      return { ...binding, key };
    case 'functions': {
      const inner = objectTypeOfField(field);
      const shown = collectFields(context, inner, selectionSetsOf(nodes)).map((fn) =>
        toFunctionItem(context, inner, binding.field, fn),
      );
      return { kind: 'object', key, items: shown };
    }
    case 'related': {
      const related = toSelectionAt(context, field, nodes, objectTypeOfField(field), depth + 1);
      return { kind: 'related', key, field: binding.field, selection: related };
    }
    case 'any': {
      const selections = unionMembersOf(field).map((target) => [
        collectionOfObjectType(target),
        toSelectionAt(context, field, nodes, target, depth + 1),
      ]);
      return { kind: 'any', key, field: binding.field, of: Object.fromEntries(selections) };
    }
    default:
      throw new Error(`${type.name}.${field.name} has no binding for a row`);
  }
}

/** A function of a field. Only `json` has an argument: the path inside the JSON value. */
function toFunctionItem(
  context: GraphqlDocumentContext,
  type: GraphQLObjectType,
  fieldName: string,
  { key, field, nodes }: CollectedField,
): SelectionItem {
  if (field.name === '__typename') return { kind: 'constant', key, value: type.name };
  const binding = graphqlFieldBindingOf(field);
  if (binding?.kind !== 'function') throw new Error(`${type.name}.${field.name} is no function`);
  const { path } = getArgumentValues(field, nodes[0], context.variables);
  const fn = { name: binding.fn, ...(path === undefined ? {} : { path: String(path) }) };
  return { kind: 'column', key, field: fieldName, fn };
}

export function objectTypeOfField(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type = getNamedType(field.type);
  if (type instanceof GraphQLObjectType) return type;
  throw new Error(`${field.name} is not of an object type`);
}

function unionMembersOf(field: GraphQLField<unknown, unknown>): readonly GraphQLObjectType[] {
  const type = getNamedType(field.type);
  if (type instanceof GraphQLUnionType) return type.getTypes();
  throw new Error(`${field.name} is not of a union type`);
}
