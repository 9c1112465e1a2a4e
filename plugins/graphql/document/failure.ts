import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { CustomFailure } from '../../http/library.ts';

interface Options {
  /** The document is invalid in any schema, so it is not tried again with a newer one. */
  readonly isSchemaIndependent?: boolean;
}

/** Characters of a message: messages quote the document. */
const MAX_MESSAGE = 1000;
const MAX_LOCATIONS = 20;

/**
 * An invalid request, refused before any field runs (conventions, "Routes and envelope"): 400 without `data`, with the
 * first error as the message and all errors of GraphQL in `extensions.graphqlErrors`.
 */
export class GraphqlDocumentFailure extends CustomFailure {
  /** Locations of the first error in the document. */
  readonly locations: GraphQLFormattedError['locations'];
  readonly isSchemaIndependent: boolean;

  /**
   * `code`: `INVALID_PAYLOAD` for a document that cannot be parsed, `GRAPHQL_VALIDATION_EXCEPTION` for an invalid one.
   */
  constructor(
    code: 'GRAPHQL_VALIDATION_EXCEPTION' | 'INVALID_PAYLOAD',
    errors: readonly GraphQLError[],
    { isSchemaIndependent = code === 'INVALID_PAYLOAD' }: Options = {},
  ) {
    const shown = errors.map(shortenError);
    const [first] = shown;
    super(code === 'INVALID_PAYLOAD' ? code : 'INVALID_QUERY', {
      status: 400,
      code,
      message: first?.message ?? 'The document is not valid.',
      extensions: { graphqlErrors: shown },
    });
    this.locations = first?.locations;
    this.isSchemaIndependent = isSchemaIndependent;
  }
}

function shortenError(error: GraphQLError): GraphQLFormattedError {
  const { message, locations, ...rest } = error.toJSON();
  return {
    ...rest,
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message,
    ...(locations ? { locations: locations.slice(0, MAX_LOCATIONS) } : {}),
  };
}
