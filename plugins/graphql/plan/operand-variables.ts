import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  type ValueNode,
  type VariableValues,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { PlaceholderValues } from '../../query/contract.ts';
import { isReplaceableByPlaceholder, OperandPlaceholder } from '../../query/library.ts';
import { type OperandKind, operandKindOf } from '../schema/operators.ts';

/**
 * The variables of a field and its subfields that are used only as operands of conditions. Statements have placeholders
 * for them, so that one statement serves all values.
 */
export function findOperandVariables(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): readonly string[] {
  const operands = new Set<string>();
  const others = new Set<string>();
  const visitedFragments = new Set<string>();

  function visitValue(node: ValueNode, type: GraphQLInputType | undefined, compared?: OperandKind): void {
    if (node.kind === Kind.VARIABLE) (compared === 'value' ? operands : others).add(node.name.value);
    if (node.kind === Kind.LIST) for (const one of node.values) visitValue(one, type, compared && 'value');
    if (node.kind !== Kind.OBJECT) return;
    const input = type && getNamedType(type);
    for (const { name, value: inner } of node.fields) {
      if (isInputObjectType(input))
        visitValue(inner, input.getFields()[name.value]?.type, operandKindOf(input, name.value));
      else visitValue(inner, undefined);
    }
  }

  function visitSelections(node: SelectionSetNode | FragmentDefinitionNode, types: TypeInfo): void {
    const visitor = visitWithTypeInfo(types, {
      Argument(argument) {
        visitValue(argument.value, types.getArgument()?.type);
        return false;
      },
      FragmentSpread({ name: { value: name } }) {
        const fragment = fragments.get(name);
        if (!fragment || visitedFragments.has(name)) return;
        visitedFragments.add(name);
        visitSelections(fragment, new TypeInfo(schema));
      },
    });
    visit(node, visitor);
  }

  const type = getNamedType(field.type);
  for (const { arguments: args = [], selectionSet } of nodes) {
    for (const one of args) visitValue(one.value, field.args.find(({ name }) => name === one.name.value)?.type);
    if (selectionSet && isCompositeType(type)) visitSelections(selectionSet, new TypeInfo(schema, type));
  }
  return [...operands].filter((name) => !others.has(name)).sort();
}

/** The operands whose values may be replaced by placeholders. */
export const toPlaceholderValues = (operands: readonly string[], { coerced }: VariableValues): PlaceholderValues =>
  Object.fromEntries(
    operands.filter((name) => isReplaceableByPlaceholder(coerced[name])).map((name) => [name, coerced[name]]),
  );

/** The variables with placeholders for these values. */
export function withVariablePlaceholders(
  { sources, coerced }: VariableValues,
  placeholders: PlaceholderValues,
): VariableValues {
  const variables = Object.assign(Object.create(null), coerced);
  for (const [name, value] of Object.entries(placeholders)) variables[name] = new OperandPlaceholder(name, value);
  return { sources, coerced: variables };
}
