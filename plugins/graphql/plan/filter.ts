import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { inputFieldBindingOf } from '../schema/field-bindings.ts';

/**
 * Converts a filter input, already validated against its type, into the form of REST. Missing variables leave no entry;
 * null in place of operators or of a nested filter is ignored.
 */
export function graphqlInputToFilter(type: GraphQLInputObjectType, input: object): Record<string, unknown> {
  const fields = type.getFields();
  const rules: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    const field = fields[name];
    if (!field || value === undefined) continue;
    const inner = getNamedType(field.type);
    const binding = inputFieldBindingOf(field);
    const key = binding?.kind === 'key' ? binding.key : name;
    if (!isInputObjectType(inner)) rules.push([key, value]);
    else if (Array.isArray(value))
      rules.push([key, value.flatMap((one) => (one ? [graphqlInputToFilter(inner, one)] : []))]);
    else if (value === null) continue;
    else if (binding?.kind === 'functions')
      rules.push(...toFunctionRules(binding.field, graphqlInputToFilter(inner, value)));
    else rules.push([key, graphqlInputToFilter(inner, value)]);
  }
  return Object.fromEntries(rules);
}

/** Converts `{ year: { _gt: 2020 } }` below `<field>_func` to `{ "year(field)": { _gt: 2020 } }`. */
const toFunctionRules = (field: string, rules: Record<string, unknown>): [string, unknown][] =>
  Object.entries(rules).map(([fn, rule]) => [`${fn}(${field})`, rule]);
