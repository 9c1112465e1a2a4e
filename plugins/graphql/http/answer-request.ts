import { OperationTypeNode } from 'graphql';
import type { GraphqlRequest, GraphqlResolverContext, GraphqlScope } from '../contract.ts';
import type { ExecuteOperation, GraphqlResponse } from '../execute/operation-and-response-types.ts';
import { withValidOperation } from '../execute/valid-operation.ts';
import type { GraphqlSchemaCache } from '../schema/schema-cache.ts';
import { createMutationMethodFailure } from './mutation-method.ts';

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
export function answerGraphqlRequest(
  deps: AnswerGraphqlRequestDeps,
  scope: GraphqlScope,
  request: GraphqlRequest,
  call: GraphqlCall,
): Promise<GraphqlResponse> {
  return withValidOperation(deps.schemas, scope, request, call.caller, (callerSchema, operation) => {
    const { operation: kind } = operation.node;
    if (!call.allowsMutations && kind === OperationTypeNode.MUTATION) throw createMutationMethodFailure();
    if (kind === OperationTypeNode.QUERY) call.onQuery?.();
    return deps.execute(callerSchema, operation, call);
  });
}
