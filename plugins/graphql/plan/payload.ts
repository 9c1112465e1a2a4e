import { type GraphQLInputType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { filterBindingOf } from '../schema/binding.ts';

/**
 * What is to be written, as a document or a variable has it, checked against its input type, in the form of REST: objects that
 * GraphQL made have no prototype, and some fields have another name.
 */
export function toPayload(type: GraphQLInputType | undefined, value: unknown): unknown {
  if (isNonNullType(type)) return toPayload(type.ofType, value);
  if (Array.isArray(value)) {
    const inner = isListType(type) ? type.ofType : undefined;
    return value.map((one) => toPayload(inner, one));
  }
  // Values of a JSON scalar came with the request and are ordinary already.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  const fields = isInputObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = fields[name];
      const binding = field && filterBindingOf(field);
      return [binding?.kind === 'key' ? binding.key : name, toPayload(field?.type, inner)];
    }),
  );
}
