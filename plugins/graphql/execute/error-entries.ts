import { type ASTNode, GraphQLError } from 'graphql';
import { type Caller, ClientGone, envelope, Failure, fail, type Log } from '#kernel';
import type { GraphqlErrorEntry } from './response.ts';

/** Where in an answer and in the document something went wrong. */
export interface ErrorLocation {
  readonly path: readonly (string | number)[];
  readonly nodes: readonly ASTNode[];
}

/** What a client is told of an error of one field; what nobody stated on purpose goes to the log. */
export function toErrorEntries(
  log: Log,
  caller: Caller,
  error: unknown,
  { path, nodes }: ErrorLocation,
): readonly GraphqlErrorEntry[] {
  const { status, body } = envelope(error, { admin: caller.admin });
  if (status >= 500) log.error({ err: error }, 'a field of a document failed');
  else log.debug({ status, detail: describeError(error) }, 'a field of a document was refused');
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

/** What GraphQL itself says of arguments, such as a variable that is null where it must not be, is about the query. */
export const toFailure = (error: unknown): unknown =>
  error instanceof GraphQLError ? fail('INVALID_QUERY', error.message) : error;

/** The client is gone: nobody is there to be told. */
export const isClientGone = (error: unknown): boolean => error instanceof ClientGone;
