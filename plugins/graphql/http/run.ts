import { type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { fail, requestScope } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import type { Document } from '../document/documents.ts';
import { DocumentFailure } from '../document/failure.ts';
import { beyond } from '../document/limits.ts';
import type { Answer, Execute } from '../execute/answer.ts';
import type { BuiltSchema, Schemas } from '../schema/schemas.ts';
import type { GraphqlRequest } from './request.ts';

export interface RunDeps {
  readonly schemas: Schemas;
  readonly execute: Execute;
}

/** Answers one request. What is wrong before anything of it runs is a DocumentFailure. */
export async function run(
  { schemas, execute }: RunDeps,
  scope: GraphqlScope,
  request: GraphqlRequest,
  ctx: HttpContext,
): Promise<Answer> {
  const { caller } = ctx.state;
  const attempt = (built: BuiltSchema): Promise<Answer> => {
    const document = built.documents.of(request.query);
    const node = operationOf(document, request.operationName);
    if (ctx.method !== 'POST' && node.operation === OperationTypeNode.MUTATION)
      throw fail('METHOD_NOT_ALLOWED', 'Mutations are sent by POST.', { allow: ['POST'] });
    // A query that is sent by POST ends with its client, as one by GET does.
    if (node.operation === OperationTypeNode.QUERY) requestScope.getStore()?.onlyReads?.();
    return execute(built, { document, node, variables: request.variables }, { caller, ctx });
  };
  const built = await schemas.of(caller, scope);
  try {
    return await attempt(built);
  } catch (error) {
    if (!(error instanceof DocumentFailure) || error.inAnySchema) throw error;
    // It may name what there was not when the schema was made.
    const newer = await schemas.newer(caller, built);
    if (!newer) throw error;
    return attempt(newer);
  }
}

function operationOf({ operations }: Document, name: string | undefined): OperationDefinitionNode {
  const [only, ...others] = operations.values();
  const found = name === undefined ? only : operations.get(name);
  if (!found) throw beyond(`The document has no operation "${name}" ("operationName").`);
  if (name === undefined && others.length > 0)
    throw beyond('The document has several operations: say in "operationName" which is meant.');
  return found;
}
