import type { GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { GraphqlCall } from '../contract.ts';
import type { Document } from '../document/document-cache.ts';
import type { CallerSchema } from '../schema/schema-cache.ts';

export interface Operation {
  readonly document: Document;
  readonly node: OperationDefinitionNode;
  /** As the request has them, not yet checked against their types. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The whole answer as JSON text, or in parts where one of its lists is long. Errors are in it. */
export type GraphqlResponse =
  | { readonly kind: 'text'; readonly text: string; readonly failed: boolean }
  | { readonly kind: 'parts'; readonly parts: AsyncIterable<string | Uint8Array> };

/** Runs one operation. Throws a DocumentFailure where the variables do not fit; all else is an answer with `errors`. */
export type ExecuteOperation = (
  built: CallerSchema,
  operation: Operation,
  call: GraphqlCall,
) => Promise<GraphqlResponse>;

export type GraphqlErrorEntry = GraphQLFormattedError;
