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
import type { GivenValues } from '../../query/contract.ts';
import { Given, isGivable } from '../../query/library.ts';
import { type Compared, comparedBy } from '../schema/operators.ts';

/**
 * The variables of a field, and of what is below it, that stand only where a condition compares with them. Statements are
 * made without their values.
 */
export function operandsIn(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): readonly string[] {
  const operands = new Set<string>();
  const others = new Set<string>();
  const followed = new Set<string>();

  function value(node: ValueNode, type: GraphQLInputType | undefined, compared?: Compared): void {
    if (node.kind === Kind.VARIABLE) (compared === 'value' ? operands : others).add(node.name.value);
    if (node.kind === Kind.LIST) for (const one of node.values) value(one, type, compared && 'value');
    if (node.kind !== Kind.OBJECT) return;
    const input = type && getNamedType(type);
    for (const { name, value: inner } of node.fields) {
      if (isInputObjectType(input)) value(inner, input.getFields()[name.value]?.type, comparedBy(input, name.value));
      else value(inner, undefined);
    }
  }

  function below(node: SelectionSetNode | FragmentDefinitionNode, types: TypeInfo): void {
    const look = visitWithTypeInfo(types, {
      Argument(argument) {
        value(argument.value, types.getArgument()?.type);
        return false;
      },
      FragmentSpread({ name: { value: name } }) {
        const fragment = fragments.get(name);
        if (!fragment || followed.has(name)) return;
        followed.add(name);
        below(fragment, new TypeInfo(schema));
      },
    });
    visit(node, look);
  }

  const type = getNamedType(field.type);
  for (const { arguments: given = [], selectionSet } of nodes) {
    for (const one of given) value(one.value, field.args.find(({ name }) => name === one.name.value)?.type);
    if (selectionSet && isCompositeType(type)) below(selectionSet, new TypeInfo(schema, type));
  }
  return [...operands].filter((name) => !others.has(name)).sort();
}

/** Those of them whose values statements can be made without. */
export const givenOf = (operands: readonly string[], { coerced }: VariableValues): GivenValues =>
  Object.fromEntries(operands.filter((name) => isGivable(coerced[name])).map((name) => [name, coerced[name]]));

/** Variables with these values left open. */
export function opened({ sources, coerced }: VariableValues, given: GivenValues): VariableValues {
  const open = Object.assign(Object.create(null), coerced);
  for (const [name, value] of Object.entries(given)) open[name] = new Given(name, value);
  return { sources, coerced: open };
}
