import { OperationTypeNode } from 'graphql';
import { fail, requestScope } from '#kernel';
import type { GraphqlOperationCall, GraphqlRequest, GraphqlScope } from '../contract.ts';
import type { ExecuteOperation, GraphqlResponse } from '../execute/operation-and-response-types.ts';
import { withValidOperation } from '../execute/valid-operation.ts';
import type { GraphqlSchemaCache } from '../schema/schema-cache.ts';

export interface AnswerGraphqlRequestDeps {
  readonly schemas: GraphqlSchemaCache;
  readonly execute: ExecuteOperation;
}

/** Validates and runs one request. @throws DocumentFailure for an invalid request, before any field runs. */
export function answerGraphqlRequest(
  deps: AnswerGraphqlRequestDeps,
  scope: GraphqlScope,
  request: GraphqlRequest,
  call: GraphqlOperationCall,
): Promise<GraphqlResponse> {
  return withValidOperation(deps.schemas, scope, request, call.caller, (callerSchema, operation) => {
    const { operation: kind } = operation.node;
    if (kind === OperationTypeNode.MUTATION && call.ctx.method !== 'POST')
      throw fail('METHOD_NOT_ALLOWED', 'Mutations are sent by POST.', { allow: ['POST'] });
    // A query by POST is cancelled when its client disconnects, like one by GET.
    if (kind === OperationTypeNode.QUERY) requestScope.getStore()?.markReadOnly?.();
    return deps.execute(callerSchema, operation, call);
  });
}
