import { type GraphQLInputType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { inputFieldBindingOf } from '../schema/binding.ts';

/**
 * Converts a payload input, already validated against its type, into the form of REST: ordinary objects instead of
 * those without a prototype, and database names instead of aliases.
 */
export function toPayload(type: GraphQLInputType | undefined, value: unknown): unknown {
  if (isNonNullType(type)) return toPayload(type.ofType, value);
  if (Array.isArray(value)) {
    const inner = isListType(type) ? type.ofType : undefined;
    return value.map((one) => toPayload(inner, one));
  }
  // Values of the scalar JSON were parsed from the request and are ordinary already.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  const fields = isInputObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = fields[name];
      const binding = field && inputFieldBindingOf(field);
      return [binding?.kind === 'key' ? binding.key : name, toPayload(field?.type, inner)];
    }),
  );
}
