import {
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  isNonNullType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import type { GivenValues } from '../../query/contract.ts';
import type { Document } from '../document/document-cache.ts';
import { DocumentFailure } from '../document/failure.ts';
import { bindingOf, type RootBinding } from '../schema/binding.ts';
import type { CallerSchema } from '../schema/schema-cache.ts';
import { type CollectedField, collectFields, type DocumentContext } from './collect-fields.ts';
import { findOperands, toPlaceholderValues } from './operands.ts';
import { findConditionVariables, findVariables } from './variables.ts';

/** A field of `Query` or `Mutation` that an operation asks for. */
export interface RootField extends CollectedField {
  /** Undefined for the fields of GraphQL itself. */
  readonly binding: RootBinding | undefined;
  /** Where it fails, the whole answer does. */
  readonly nonNull: boolean;
  /**
   * Stands for what is asked under this key: the same text is always the same selection. The key of a row, and what is to be
   * written, are no part of it.
   */
  readonly cacheText: (variables: VariableValues) => string;
  /** The same without the values that conditions compare with, and those values. */
  readonly parameterize: (variables: VariableValues) => { readonly text: string; readonly given: GivenValues };
}

type CollectOptions = Pick<DocumentContext, 'variables' | 'spend'>;

/** By document, since those belong to one schema. Not where variables decide which fields there are. */
const rootFieldCache = new WeakMap<Document, Map<OperationDefinitionNode, readonly RootField[] | 'varying'>>();

/** The root fields of an operation in their order. Throws a DocumentFailure where they cannot be told. */
export function findRootFields(
  built: CallerSchema,
  document: Document,
  operation: OperationDefinitionNode,
  options: CollectOptions,
): readonly RootField[] {
  const cache = rootFieldCache.get(document) ?? new Map<OperationDefinitionNode, readonly RootField[] | 'varying'>();
  rootFieldCache.set(document, cache);
  const cached = cache.get(operation);
  if (cached && cached !== 'varying') return cached;
  const conditions = findConditionVariables(operation.selectionSet, document.fragments);
  const roots = collectRootFields(built, document, operation, options).map((one) =>
    createRootField(built, document, operation, one, conditions),
  );
  cache.set(operation, conditions.length > 0 ? 'varying' : roots);
  return roots;
}

function collectRootFields(
  { schema }: CallerSchema,
  { fragments }: Document,
  { operation, selectionSet }: OperationDefinitionNode,
  options: CollectOptions,
): readonly CollectedField[] {
  const type = schema.getRootType(operation) as GraphQLObjectType;
  try {
    return collectFields({ schema, fragments, ...options }, type, [selectionSet]);
  } catch (error) {
    // A condition that is null although it must not be.
    if (!(error instanceof GraphQLError)) throw error;
    throw new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', [error]);
  }
}

function createRootField(
  { schema }: CallerSchema,
  document: Document,
  operation: OperationDefinitionNode,
  collectedField: CollectedField,
  conditions: readonly string[],
): RootField {
  const { field, nodes } = collectedField;
  const binding = bindingOf(field) as RootBinding | undefined;
  const relevantNodes = nodes.flatMap((node) => [
    ...(node.arguments?.filter(({ name }) => !isOutsideSelection(binding, field, name.value)) ?? []),
    ...(node.selectionSet ? [node.selectionSet] : []),
  ]);
  const names = [...new Set([...conditions, ...findVariables(relevantNodes, document.fragments)])];
  const operands = findOperands(schema, document.fragments, field, nodes).filter((name) => !conditions.includes(name));
  const start = `g${document.id}.${operation.name?.value ?? ''}.${collectedField.key} `;
  // What was not given is left out, and is thereby not the same as null.
  const textOf = ({ coerced }: VariableValues, given: GivenValues): string =>
    names.length === 0
      ? start
      : start +
        JSON.stringify(
          Object.fromEntries(names.flatMap((name) => (Object.hasOwn(given, name) ? [] : [[name, coerced[name]]]))),
        );
  return {
    ...collectedField,
    binding,
    nonNull: isNonNullType(field.type),
    cacheText: (variables) => textOf(variables, {}),
    parameterize(variables) {
      const given = toPlaceholderValues(operands, variables);
      const open = Object.keys(given);
      return {
        text: open.length === 0 ? textOf(variables, given) : `${textOf(variables, given)} ${open.join()}`,
        given,
      };
    },
  };
}

/** Arguments that the selection does not depend on: the keys of rows and what is written. */
const isOutsideSelection = (
  binding: RootBinding | undefined,
  { args }: GraphQLField<unknown, unknown>,
  name: string,
): boolean =>
  binding?.kind === 'contributed'
    ? args.some((one) => one.name === name)
    : name === 'id' || name === 'ids' || name === 'data';
