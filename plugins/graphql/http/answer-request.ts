import { type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { fail } from '#kernel';
import type { GraphqlResolverContext, GraphqlScope } from '../contract.ts';
import type { ValidatedGraphqlDocument } from '../document/document-cache.ts';
import { GraphqlDocumentFailure } from '../document/failure.ts';
import { schemaIndependentFailure } from '../document/limits.ts';
import type { ExecuteOperation, GraphqlResponse } from '../execute/operation-and-response-types.ts';
import type { CallerGraphqlSchema, GraphqlSchemaCache } from '../schema/schema-cache.ts';
import type { GraphqlRequest } from './request.ts';

export interface AnswerGraphqlRequestDeps {
  readonly schemas: GraphqlSchemaCache;
  readonly execute: ExecuteOperation;
}

/** A request of a client, or a call of code. */
export interface GraphqlCall extends GraphqlResolverContext {
  readonly allowsMutations: boolean;
  /** Called before a query runs, which changes nothing. */
  onQuery?(): void;
}

/** Validates and runs one request. @throws DocumentFailure for an invalid request, before any field runs. */
export async function answerGraphqlRequest(
  { schemas, execute }: AnswerGraphqlRequestDeps,
  scope: GraphqlScope,
  request: GraphqlRequest,
  call: GraphqlCall,
): Promise<GraphqlResponse> {
  const { caller } = call;
  const attempt = (callerSchema: CallerGraphqlSchema): Promise<GraphqlResponse> => {
    const document = callerSchema.documents.get(request.query);
    const node = selectOperation(document, request.operationName);
    if (!call.allowsMutations && node.operation === OperationTypeNode.MUTATION)
      throw fail('METHOD_NOT_ALLOWED', 'Mutations are sent by POST.', { allow: ['POST'] });
    if (node.operation === OperationTypeNode.QUERY) call.onQuery?.();
    return execute(callerSchema, { document, node, variables: request.variables }, call);
  };
  const built = await schemas.get(caller, scope);
  try {
    return await attempt(built);
  } catch (error) {
    if (!(error instanceof GraphqlDocumentFailure) || error.isSchemaIndependent) throw error;
    // The document may use tables that were created after the schema was built.
    const newer = await schemas.refresh(caller, built);
    if (!newer) throw error;
    return attempt(newer);
  }
}

function selectOperation({ operations }: ValidatedGraphqlDocument, name: string | undefined): OperationDefinitionNode {
  const [only, ...others] = operations.values();
  const operation = name === undefined ? only : operations.get(name);
  if (!operation) throw schemaIndependentFailure(`The document has no operation "${name}" ("operationName").`);
  if (name === undefined && others.length > 0)
    throw schemaIndependentFailure('The document has several operations: name one of them in "operationName".');
  return operation;
}
