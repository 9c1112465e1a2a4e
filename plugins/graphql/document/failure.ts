import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { StatedFailure } from '../../http/library.ts';

interface Options {
  /** It would be refused in any schema: there is no use in looking for a newer one. */
  readonly isSchemaIndependent?: boolean;
}

/** Messages quote the document, and there are documents with a thousand wrong places. */
const MAX_MESSAGE = 1000;
const MAX_LOCATIONS = 20;

/**
 * What is wrong with a request before anything of it runs (conventions, "Routes and envelope"): 400 without `data`, with all
 * that GraphQL found in `graphqlErrors` and the first of it as the message.
 */
export class DocumentFailure extends StatedFailure {
  /** Where in the document the first of them is. */
  readonly locations: GraphQLFormattedError['locations'];
  readonly isSchemaIndependent: boolean;

  /** `GRAPHQL_VALIDATION_EXCEPTION` for a document that is no good; `INVALID_PAYLOAD` for one that cannot be parsed. */
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
