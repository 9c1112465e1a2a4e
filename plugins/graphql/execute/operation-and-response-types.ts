import type { GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { GraphqlResolverContext } from '../contract.ts';
import type { ValidatedGraphqlDocument } from '../document/document-cache.ts';
import type { CallerGraphqlSchema } from '../schema/schema-cache.ts';

export interface GraphqlOperation {
  readonly document: ValidatedGraphqlDocument;
  readonly node: OperationDefinitionNode;
  /** Raw values of the request, not yet coerced to their types. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The response as JSON text, errors included, or as a stream of parts for a long list. */
export type GraphqlResponse =
  | { readonly kind: 'text'; readonly text: string; readonly failed: boolean }
  | { readonly kind: 'parts'; readonly parts: AsyncIterable<string | Uint8Array> };

/** Runs one operation. Errors of fields are in the response. @throws DocumentFailure for invalid variables. */
export type ExecuteOperation = (
  built: CallerGraphqlSchema,
  operation: GraphqlOperation,
  call: GraphqlResolverContext,
) => Promise<GraphqlResponse>;

export type GraphqlErrorEntry = GraphQLFormattedError;
