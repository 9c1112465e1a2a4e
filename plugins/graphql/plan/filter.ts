import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { filterBindingOf } from '../schema/binding.ts';

/**
 * A filter as a document or a variable has it, checked against its input type, in the form of REST. Variables that were not
 * given have left nothing behind; null in place of operators or of a nested filter says nothing either.
 */
export function toFilter(type: GraphQLInputObjectType, given: object): Record<string, unknown> {
  const fields = type.getFields();
  const rules: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    const field = fields[name];
    if (!field || value === undefined) continue;
    const inner = getNamedType(field.type);
    const binding = filterBindingOf(field);
    const key = binding?.kind === 'key' ? binding.key : name;
    if (!isInputObjectType(inner)) rules.push([key, value]);
    else if (Array.isArray(value)) rules.push([key, value.flatMap((one) => (one ? [toFilter(inner, one)] : []))]);
    else if (value === null) continue;
    else if (binding?.kind === 'functions') rules.push(...toFunctionRules(binding.field, toFilter(inner, value)));
    else rules.push([key, toFilter(inner, value)]);
  }
  return Object.fromEntries(rules);
}

/** `{ year: { _gt: 2020 } }` is `{ "year(field)": { _gt: 2020 } }`. */
const toFunctionRules = (field: string, rules: Record<string, unknown>): [string, unknown][] =>
  Object.entries(rules).map(([fn, rule]) => [`${fn}(${field})`, rule]);
