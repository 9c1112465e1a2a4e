import type { GraphQLFormattedError } from 'graphql';
import { type Caller, errorEnvelope } from '#kernel';
import { GraphqlDocumentFailure } from './document/failure.ts';

export { parseGraphqlFieldName } from './fields/unique-contributed-fields.ts';
/** The failure of a mutation in a request that may only read. */
export { createMutationMethodFailure } from './http/mutation-method.ts';

/** The errors of a request that was refused, as GraphQL has them: `locations` beside `message` for an invalid document. */
export function toGraphqlErrors(error: unknown, caller: Pick<Caller, 'admin'>): readonly GraphQLFormattedError[] {
  const { locations } = error instanceof GraphqlDocumentFailure ? error : {};
  return errorEnvelope(error, caller).body.errors.map(({ message, extensions }) => ({
    message,
    ...(locations ? { locations } : {}),
    extensions,
  }));
}
