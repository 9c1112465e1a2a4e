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
import { ColumnEnumGraphqlType } from '../schema/enum-types.ts';
import { isOperatorsType } from '../schema/operators.ts';
import { JsonScalar, StringOrFloatScalar } from '../schema/scalars.ts';

/** Scalars of operators, each with the further types of variables that it accepts. The engine checks the values. */
const ACCEPTED_VARIABLE_TYPES: Readonly<Record<string, readonly string[]>> = {
  ID: ['String', 'Int', 'BigInt'],
  StringOrFloat: ['Int', 'Float', 'String', 'ID', 'BigInt'],
  BigInt: ['Int', 'String', 'ID'],
  // Operators of dates take texts.
  String: ['Date', 'ID'],
};

/**
 * GraphQL's rule VariablesInAllowedPosition, relaxed for operands of conditions: they accept variables of any type
 * whose literals they accept (`_gt: $views` of an `Int`, `_eq: $id` of a `String`). Elsewhere the rule holds unchanged.
 */
export const variablePositionsRule: ValidationRule = (context) =>
  VariablesInAllowedPositionRule(
    Object.create(context, {
      getRecursiveVariableUsages: {
        value: (operation: OperationDefinitionNode) => relaxedUsages(context, operation),
      },
    }),
  );

function relaxedUsages(context: ValidationContext, operation: OperationDefinitionNode) {
  const declared = new Map(
    operation.variableDefinitions?.map(({ variable, type }) => [variable.name.value, typeNameOf(type)]),
  );
  return context.getRecursiveVariableUsages(operation).map((usage) => {
    const name = declared.get(usage.node.name.value);
    if (!name || !usage.type) return usage;
    const named = getNamedType(usage.type);
    if (named instanceof ColumnEnumGraphqlType) return { ...usage, type: enumPositionType(usage.type, name) };
    const { name: expected } = named;
    if (!isOperand(expected, usage.parentType) || !ACCEPTED_VARIABLE_TYPES[expected]?.includes(name)) return usage;
    const type = context.getSchema().getType(name);
    return isScalarType(type) ? { ...usage, type: withScalar(usage.type, type) } : usage;
  });
}

/**
 * Whether a position of a document takes an operand of a filter condition. Only conditions use StringOrFloat; for other
 * scalars the parent input type decides, which is unknown for elements of a list.
 */
const isOperand = (type: string, parent: unknown): boolean =>
  type === StringOrFloatScalar.name || isOperatorsType(parent);

const typeNameOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : typeNameOf(type.type);

/**
 * Older documents declare variables of `String`, or of `JSON` for a list, where a column has an enum type now. They
 * stay valid: the engine compares and writes their values as REST does.
 */
function enumPositionType(type: GraphQLInputType, name: string): GraphQLInputType {
  if (name === GraphQLString.name || name === GraphQLID.name)
    return withScalar(type, GraphQLString.name === name ? GraphQLString : GraphQLID);
  const isList = isListType(isNonNullType(type) ? type.ofType : type);
  return isList && name === JsonScalar.name
    ? isNonNullType(type)
      ? new GraphQLNonNull(JsonScalar)
      : JsonScalar
    : type;
}

/** The same list and non-null wrappers around another scalar. */
function withScalar(type: GraphQLInputType, scalar: GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(withScalar(type.ofType, scalar) as never);
  return isListType(type) ? new GraphQLList(withScalar(type.ofType, scalar)) : scalar;
}
