import {
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  isNonNullType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import type { GivenValues } from '../../query/contract.ts';
import type { Document } from '../document/documents.ts';
import { DocumentFailure } from '../document/failure.ts';
import { bindingOf, type RootBinding } from '../schema/binding.ts';
import type { BuiltSchema } from '../schema/schemas.ts';
import { type Collected, collect, type Reading } from './collect.ts';
import { givenOf, operandsIn } from './operands.ts';
import { conditionsIn, variablesIn } from './variables.ts';

/** A field of `Query` or `Mutation` that an operation asks for. */
export interface Root extends Collected {
  /** Undefined for the fields of GraphQL itself. */
  readonly binding: RootBinding | undefined;
  /** Where it fails, the whole answer does. */
  readonly nonNull: boolean;
  /**
   * Stands for what is asked under this key: the same text is always the same selection. The key of a row, and what is to be
   * written, are no part of it.
   */
  readonly text: (variables: VariableValues) => string;
  /** The same without the values that conditions compare with, and those values. */
  readonly open: (variables: VariableValues) => { readonly text: string; readonly given: GivenValues };
}

type Asked = Pick<Reading, 'variables' | 'spend'>;

/** By document, since those belong to one schema. Not where variables decide which fields there are. */
const remembered = new WeakMap<Document, Map<OperationDefinitionNode, readonly Root[] | 'varying'>>();

/** The root fields of an operation in their order. Throws a DocumentFailure where they cannot be told. */
export function rootsOf(
  built: BuiltSchema,
  document: Document,
  operation: OperationDefinitionNode,
  asked: Asked,
): readonly Root[] {
  const known = remembered.get(document) ?? new Map<OperationDefinitionNode, readonly Root[] | 'varying'>();
  remembered.set(document, known);
  const before = known.get(operation);
  if (before && before !== 'varying') return before;
  const conditions = conditionsIn(operation.selectionSet, document.fragments);
  const roots = collected(built, document, operation, asked).map((one) =>
    rootOf(built, document, operation, one, conditions),
  );
  known.set(operation, conditions.length > 0 ? 'varying' : roots);
  return roots;
}

function collected(
  { schema }: BuiltSchema,
  { fragments }: Document,
  { operation, selectionSet }: OperationDefinitionNode,
  asked: Asked,
): readonly Collected[] {
  const type = schema.getRootType(operation) as GraphQLObjectType;
  try {
    return collect({ schema, fragments, ...asked }, type, [selectionSet]);
  } catch (error) {
    // A condition that is null although it must not be.
    if (!(error instanceof GraphQLError)) throw error;
    throw new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', [error]);
  }
}

function rootOf(
  { schema }: BuiltSchema,
  document: Document,
  operation: OperationDefinitionNode,
  one: Collected,
  conditions: readonly string[],
): Root {
  const { field, nodes } = one;
  const binding = bindingOf(field) as RootBinding | undefined;
  const asked = nodes.flatMap((node) => [
    ...(node.arguments?.filter(({ name }) => !isAside(binding, field, name.value)) ?? []),
    ...(node.selectionSet ? [node.selectionSet] : []),
  ]);
  const names = [...new Set([...conditions, ...variablesIn(asked, document.fragments)])];
  const operands = operandsIn(schema, document.fragments, field, nodes).filter((name) => !conditions.includes(name));
  const start = `g${document.id}.${operation.name?.value ?? ''}.${one.key} `;
  // What was not given is left out, and is thereby not the same as null.
  const textOf = ({ coerced }: VariableValues, given: GivenValues): string =>
    names.length === 0
      ? start
      : start +
        JSON.stringify(
          Object.fromEntries(names.flatMap((name) => (Object.hasOwn(given, name) ? [] : [[name, coerced[name]]]))),
        );
  return {
    ...one,
    binding,
    nonNull: isNonNullType(field.type),
    text: (variables) => textOf(variables, {}),
    open(variables) {
      const given = givenOf(operands, variables);
      const open = Object.keys(given);
      return {
        text: open.length === 0 ? textOf(variables, given) : `${textOf(variables, given)} ${open.join()}`,
        given,
      };
    },
  };
}

/** Arguments that the selection does not depend on: the keys of rows and what is written. */
const isAside = (binding: RootBinding | undefined, { args }: GraphQLField<unknown, unknown>, name: string): boolean =>
  binding?.kind === 'contributed'
    ? args.some((one) => one.name === name)
    : name === 'id' || name === 'ids' || name === 'data';
