import type { OperationDefinitionNode } from 'graphql';
import type { Caller } from '#kernel';
import type { GraphqlRequest, GraphqlScope } from '../contract.ts';
import type { ValidatedGraphqlDocument } from '../document/document-cache.ts';
import { GraphqlDocumentFailure } from '../document/failure.ts';
import { schemaIndependentFailure } from '../document/limits.ts';
import type { CallerGraphqlSchema, GraphqlSchemaCache } from '../schema/schema-cache.ts';
import type { GraphqlOperation } from './operation-and-response-types.ts';

type UseOperation<T> = (callerSchema: CallerGraphqlSchema, operation: GraphqlOperation) => Promise<T>;

/**
 * Calls `use` with the selected operation and the schema of the caller, and once more with a newer schema where the document or its
 * variables do not match: they may use tables that were created after the schema was built.
 * @throws DocumentFailure for an invalid document.
 */
export async function withValidOperation<T>(
  schemas: GraphqlSchemaCache,
  scope: GraphqlScope,
  request: GraphqlRequest,
  caller: Caller,
  use: UseOperation<T>,
): Promise<T> {
  const built = await schemas.get(caller, scope);
  try {
    return await attempt(built, request, use);
  } catch (error) {
    if (!(error instanceof GraphqlDocumentFailure) || error.isSchemaIndependent) throw error;
    const newer = await schemas.refresh(caller, built);
    if (!newer) throw error;
    return attempt(newer, request, use);
  }
}

/**
 * The same for a document that was valid before: the schema is not read anew for it, since thousands may become invalid by one change.
 * @throws DocumentFailure for an invalid document.
 */
export const withStillValidOperation = async <T>(
  schemas: GraphqlSchemaCache,
  scope: GraphqlScope,
  request: GraphqlRequest,
  caller: Caller,
  use: UseOperation<T>,
): Promise<T> => attempt(await schemas.get(caller, scope), request, use);

async function attempt<T>(
  callerSchema: CallerGraphqlSchema,
  request: GraphqlRequest,
  use: UseOperation<T>,
): Promise<T> {
  const document = callerSchema.documents.get(request.query);
  const node = selectOperation(document, request.operationName);
  return use(callerSchema, { document, node, variables: request.variables });
}

function selectOperation({ operations }: ValidatedGraphqlDocument, name: string | undefined): OperationDefinitionNode {
  const [only, ...others] = operations.values();
  const operation = name === undefined ? only : operations.get(name);
  if (!operation) throw schemaIndependentFailure(`The document has no operation "${name}" ("operationName").`);
  if (name === undefined && others.length > 0)
    throw schemaIndependentFailure('The document has several operations: name one of them in "operationName".');
  return operation;
}
