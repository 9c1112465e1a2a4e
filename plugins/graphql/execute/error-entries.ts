import { type ASTNode, GraphQLError } from 'graphql';
import { type Caller, ClientGone, errorEnvelope, Failure, fail, type Log } from '#kernel';
import type { GraphqlErrorEntry } from './operation-and-response-types.ts';

/** Where an error occurred: the path in the response and the nodes of the document. */
export interface GraphqlErrorLocation {
  readonly path: readonly (string | number)[];
  readonly nodes: readonly ASTNode[];
}

/**
 * Converts the error of a field to entries of the response's `errors`, and logs it: on level error for an unexpected
 * error, else on level debug.
 */
export function toErrorEntries(
  log: Log,
  caller: Caller,
  error: unknown,
  { path, nodes }: GraphqlErrorLocation,
): readonly GraphqlErrorEntry[] {
  const { status, body } = errorEnvelope(error, { admin: caller.admin });
  if (status >= 500) log.error({ err: error }, 'a GraphQL field failed');
  else log.debug({ status, detail: describeError(error) }, 'a GraphQL field was refused');
  const { locations } = new GraphQLError('', { nodes });
  return body.errors.map(({ message, extensions }) => ({
    message,
    ...(locations ? { locations } : {}),
    path,
    extensions,
  }));
}

const describeError = (error: unknown): string =>
  error instanceof Failure ? `${error.code}: ${error.detail ?? ''}` : String((error as Error).message);

/** An error of the graphql package about arguments, such as a null variable, becomes INVALID_QUERY. */
export const toInvalidQueryFailure = (error: unknown): unknown =>
  error instanceof GraphQLError ? fail('INVALID_QUERY', error.message) : error;

/** Whether the client disconnected, so that no response is needed. */
export const isClientGoneError = (error: unknown): boolean => error instanceof ClientGone;
