import { OperationTypeNode } from 'graphql';
import { type Caller, fail } from '#kernel';
import type {
  GraphqlRequest,
  GraphqlResolverContext,
  GraphqlSubscription,
  PreparedGraphqlOperation,
} from '../contract.ts';
import type { GraphqlSchemaCache } from '../schema/schema-cache.ts';
import type { ExecuteOperation, GraphqlResponse } from './operation-and-response-types.ts';
import type { GraphqlExecutionDeps } from './operation-run.ts';
import { createGraphqlSubscription } from './subscription.ts';
import { withStillValidOperation, withValidOperation } from './valid-operation.ts';

/** Characters of a long list that is not streamed, since it is one message: several of them may wait for a client that is slow. */
const MAX_CHARACTERS = 4_000_000;

interface PrepareOperationDeps {
  readonly schemas: GraphqlSchemaCache;
  readonly execute: ExecuteOperation;
  readonly execution: GraphqlExecutionDeps;
}

/**
 * Validates an operation of the scope `items` for its caller, and returns how to run it.
 * @throws DocumentFailure for an invalid document; for a subscription also as `createGraphqlSubscription`.
 */
export function prepareGraphqlOperation(
  { schemas, execute, execution }: PrepareOperationDeps,
  request: GraphqlRequest,
  call: GraphqlResolverContext,
): Promise<PreparedGraphqlOperation> {
  return withValidOperation(schemas, 'items', request, call.caller, async (callerSchema, operation) => {
    const kind = operation.node.operation;
    if (kind === OperationTypeNode.SUBSCRIPTION) {
      const subscription = createGraphqlSubscription(execution, callerSchema, operation, request);
      let latest = { schema: callerSchema, subscription: { ...subscription, renew } };
      function renew(caller: Caller): Promise<GraphqlSubscription> {
        return withStillValidOperation(schemas, 'items', request, caller, async (newer, renewed) => {
          if (newer !== latest.schema) {
            const next = createGraphqlSubscription(execution, newer, renewed, request);
            latest = { schema: newer, subscription: { ...next, renew } };
          }
          return latest.subscription;
        });
      }
      return { kind: 'subscription', subscription: latest.subscription };
    }
    const run = async () => toResponseText(await execute(callerSchema, operation, call));
    return { kind: kind === OperationTypeNode.QUERY ? 'query' : 'mutation', run };
  });
}

/** @throws INVALID_QUERY over MAX_CHARACTERS */
async function toResponseText(response: GraphqlResponse): Promise<string> {
  if (response.kind === 'text') return response.text;
  const texts: string[] = [];
  const decoder = new TextDecoder();
  let length = 0;
  for await (const part of response.parts) {
    const text = typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    length += text.length;
    if (length > MAX_CHARACTERS)
      throw fail(
        'INVALID_QUERY',
        `The response has more than ${MAX_CHARACTERS} characters: ask for fewer rows, or by HTTP.`,
      );
    texts.push(text);
  }
  return texts.join('');
}
