import { type GraphQLInputType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { inputFieldBindingOf } from '../schema/field-bindings.ts';

/**
 * Converts a payload input, already validated against its type, into the form of REST: ordinary objects instead of
 * those without a prototype, and database names instead of aliases.
 */
export function graphqlInputToPayload(type: GraphQLInputType | undefined, value: unknown): unknown {
  if (isNonNullType(type)) return graphqlInputToPayload(type.ofType, value);
  if (Array.isArray(value)) {
    const inner = isListType(type) ? type.ofType : undefined;
    return value.map((one) => graphqlInputToPayload(inner, one));
  }
  // Values of the scalar JSON were parsed from the request and are ordinary already.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  const fields = isInputObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = fields[name];
      const binding = field && inputFieldBindingOf(field);
      return [binding?.kind === 'key' ? binding.key : name, graphqlInputToPayload(field?.type, inner)];
    }),
  );
}
