import {
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  isNonNullType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import type { PlaceholderValues } from '../../query/contract.ts';
import type { ValidatedGraphqlDocument } from '../document/document-cache.ts';
import { GraphqlDocumentFailure } from '../document/failure.ts';
import { graphqlFieldBindingOf, type RootFieldBinding } from '../schema/field-bindings.ts';
import type { CallerGraphqlSchema } from '../schema/schema-cache.ts';
import { type CollectedField, collectFields, type GraphqlDocumentContext } from './collect-fields.ts';
import { findOperandVariables, toPlaceholderValues } from './operand-variables.ts';
import { findSkipIncludeVariables, findVariables } from './referenced-variables.ts';

/** A selected field of `Query` or `Mutation`. */
export interface SelectedRootField extends CollectedField {
  /** What the field reads or writes; undefined for introspection fields. */
  readonly binding: RootFieldBinding | undefined;
  /** If the field fails, `data` is null. */
  readonly nonNull: boolean;
  /**
   * The cache key of the selection under this response key: the same text always means the same selection. It does not
   * contain the key of a row and payloads.
   */
  readonly cacheText: (variables: VariableValues) => string;
  /** The cache key without the values of operands, and these values. */
  readonly parameterize: (variables: VariableValues) => {
    readonly text: string;
    readonly placeholders: PlaceholderValues;
  };
}

type CollectOptions = Pick<GraphqlDocumentContext, 'variables' | 'spend'>;

/** Root fields by document, which belongs to one schema. `varying`: @skip and @include decide, so nothing is cached. */
const rootFieldCache = new WeakMap<
  ValidatedGraphqlDocument,
  Map<OperationDefinitionNode, readonly SelectedRootField[] | 'varying'>
>();

/**
 * The root fields of an operation in their order.
 * @throws DocumentFailure for a null condition of @skip or @include.
 */
export function findRootFields(
  built: CallerGraphqlSchema,
  document: ValidatedGraphqlDocument,
  operation: OperationDefinitionNode,
  options: CollectOptions,
): readonly SelectedRootField[] {
  const cache =
    rootFieldCache.get(document) ?? new Map<OperationDefinitionNode, readonly SelectedRootField[] | 'varying'>();
  rootFieldCache.set(document, cache);
  const cached = cache.get(operation);
  if (cached && cached !== 'varying') return cached;
  const conditions = findSkipIncludeVariables(operation.selectionSet, document.fragments);
  const roots = collectRootFields(built, document, operation, options).map((one) =>
    createRootField(built, document, operation, one, conditions),
  );
  cache.set(operation, conditions.length > 0 ? 'varying' : roots);
  return roots;
}

function collectRootFields(
  { schema }: CallerGraphqlSchema,
  { fragments }: ValidatedGraphqlDocument,
  { operation, selectionSet }: OperationDefinitionNode,
  options: CollectOptions,
): readonly CollectedField[] {
  const type = schema.getRootType(operation) as GraphQLObjectType;
  try {
    return collectFields({ schema, fragments, ...options }, type, [selectionSet]);
  } catch (error) {
    // A null condition of @skip or @include.
    if (!(error instanceof GraphQLError)) throw error;
    throw new GraphqlDocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', [error]);
  }
}

function createRootField(
  { schema }: CallerGraphqlSchema,
  document: ValidatedGraphqlDocument,
  operation: OperationDefinitionNode,
  collectedField: CollectedField,
  conditions: readonly string[],
): SelectedRootField {
  const { field, nodes } = collectedField;
  const binding = graphqlFieldBindingOf(field) as RootFieldBinding | undefined;
  const relevantNodes = nodes.flatMap((node) => [
    ...(node.arguments?.filter(({ name }) => !isOutsideSelection(binding, field, name.value)) ?? []),
    ...(node.selectionSet ? [node.selectionSet] : []),
  ]);
  const names = [...new Set([...conditions, ...findVariables(relevantNodes, document.fragments)])];
  const operands = findOperandVariables(schema, document.fragments, field, nodes).filter(
    (name) => !conditions.includes(name),
  );
  const start = `g${document.id}.${operation.name?.value ?? ''}.${collectedField.key} `;
  // A missing variable is left out, so that it differs from null.
  const textOf = ({ coerced }: VariableValues, placeholders: PlaceholderValues): string =>
    names.length === 0
      ? start
      : start +
        JSON.stringify(
          Object.fromEntries(
            names.flatMap((name) => (Object.hasOwn(placeholders, name) ? [] : [[name, coerced[name]]])),
          ),
        );
  return {
    ...collectedField,
    binding,
    nonNull: isNonNullType(field.type),
    cacheText: (variables) => textOf(variables, {}),
    parameterize(variables) {
      const placeholders = toPlaceholderValues(operands, variables);
      const open = Object.keys(placeholders);
      return {
        text: open.length === 0 ? textOf(variables, placeholders) : `${textOf(variables, placeholders)} ${open.join()}`,
        placeholders,
      };
    },
  };
}

/** Arguments that the selection does not depend on: keys of rows, payloads, and all of contributed fields. */
const isOutsideSelection = (
  binding: RootFieldBinding | undefined,
  { args }: GraphQLField<unknown, unknown>,
  name: string,
): boolean =>
  binding?.kind === 'contributed'
    ? args.some((one) => one.name === name)
    : name === 'id' || name === 'ids' || name === 'data';
