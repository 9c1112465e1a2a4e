import {
  GraphQLID,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  getNamedType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type ValidationContext,
  type ValidationRule,
  VariablesInAllowedPositionRule,
} from 'graphql';
import { ColumnEnum } from '../schema/enum-types.ts';
import { isOperators } from '../schema/operators.ts';
import { JsonScalar, StringOrFloatScalar } from '../schema/scalars.ts';

/** Scalars of operators, and those whose values they take from literals anyway, so that the engine checks them in any case. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  ID: ['String', 'Int', 'BigInt'],
  StringOrFloat: ['Int', 'Float', 'String', 'ID', 'BigInt'],
  BigInt: ['Int', 'String', 'ID'],
  // Those of dates are texts.
  String: ['Date', 'ID'],
};

/**
 * GraphQL's rule, but that what a condition compares with may come from a variable of any type whose values it takes from
 * literals: `_gt: $views` of an `Int`, `_eq: $id` of a `String`. Elsewhere keys are `ID`s, as GraphQL has it.
 */
export const variablesInPositions: ValidationRule = (context) =>
  VariablesInAllowedPositionRule(
    Object.create(context, {
      getRecursiveVariableUsages: {
        value: (operation: OperationDefinitionNode) => usagesIn(context, operation),
      },
    }),
  );

function usagesIn(context: ValidationContext, operation: OperationDefinitionNode) {
  const declared = new Map(
    operation.variableDefinitions?.map(({ variable, type }) => [variable.name.value, namedIn(type)]),
  );
  return context.getRecursiveVariableUsages(operation).map((usage) => {
    const name = declared.get(usage.node.name.value);
    if (!name || !usage.type) return usage;
    const named = getNamedType(usage.type);
    if (named instanceof ColumnEnum) return { ...usage, type: inPlaceOfEnum(usage.type, name) };
    const { name: expected } = named;
    if (!isOperand(expected, usage.parentType) || !TAKEN[expected]?.includes(name)) return usage;
    const type = context.getSchema().getType(name);
    return isScalarType(type) ? { ...usage, type: inPlaceOf(usage.type, type) } : usage;
  });
}

/** Conditions alone compare with this scalar; whether others stand in one is not told of the members of a list. */
const isOperand = (type: string, parent: unknown): boolean => type === StringOrFloatScalar.name || isOperators(parent);

const namedIn = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedIn(type.type));

/**
 * Documents that were written before a column had the type of its enum declare texts, and JSON for a list. The engine compares
 * and writes what is in them as REST does.
 */
function inPlaceOfEnum(type: GraphQLInputType, name: string): GraphQLInputType {
  if (name === GraphQLString.name || name === GraphQLID.name)
    return inPlaceOf(type, GraphQLString.name === name ? GraphQLString : GraphQLID);
  const isList = isListType(isNonNullType(type) ? type.ofType : type);
  return isList && name === JsonScalar.name
    ? isNonNullType(type)
      ? new GraphQLNonNull(JsonScalar)
      : JsonScalar
    : type;
}

/** The same lists and non-nulls around another scalar. */
function inPlaceOf(type: GraphQLInputType, scalar: GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(inPlaceOf(type.ofType, scalar) as never);
  return isListType(type) ? new GraphQLList(inPlaceOf(type.ofType, scalar)) : scalar;
}
