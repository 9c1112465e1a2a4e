import { createHash } from 'node:crypto';
import { fail } from '#kernel';
import type { GraphqlRequest, GraphqlSubscription, RowChangeEvent } from '../contract.ts';
import { findRootFields } from '../plan/root-fields.ts';
import { type RowChangeMember, toRowChangeSelection } from '../plan/row-change-selection.ts';
import type { CallerGraphqlSchema } from '../schema/schema-cache.ts';
import { splitJsonObject } from './json-members.ts';
import type { GraphqlOperation } from './operation-and-response-types.ts';
import {
  coerceVariables,
  createGraphqlSelectionContext,
  createRootFieldCounter,
  type GraphqlExecutionDeps,
  type GraphqlOperationRun,
} from './operation-run.ts';
import { assertVariableRepetitionLimit } from './variable-repetition.ts';

type RunWithoutCall = Omit<GraphqlOperationRun, 'call'>;

/**
 * Translates the only root field of a valid subscription (the GraphQL specification permits one, and no introspection).
 * @throws DocumentFailure for invalid variables and over a limit, INVALID_QUERY.
 */
export function createGraphqlSubscription(
  deps: GraphqlExecutionDeps,
  callerSchema: CallerGraphqlSchema,
  operation: GraphqlOperation,
  request: GraphqlRequest,
): Omit<GraphqlSubscription, 'renew'> {
  const { document, node } = operation;
  const coercedVariables = coerceVariables(deps, callerSchema, operation);
  const run: RunWithoutCall = { ...operation, callerSchema, coercedVariables };
  assertVariableRepetitionLimit(run);
  const spend = createRootFieldCounter(deps);
  const [root] = findRootFields(callerSchema, document, node, { variables: coercedVariables, spend });
  if (root?.binding?.kind !== 'row changes') throw fail('INVALID_QUERY', 'The subscription has no field.');
  const { event, members, rows } = toRowChangeSelection(createGraphqlSelectionContext(deps, run), root);
  const render = createResponseRenderer(root.key, members);
  return {
    collection: root.binding.collection,
    event,
    selection: { text: selectionText(callerSchema, request), rows },
    renderResponse: render,
    renderEmptyResponse: (error) =>
      `{"data":{"${root.key}":null}${error ? `,"errors":${JSON.stringify([error])}` : ''}}`,
  };
}

/** Texts equal for equal requests in one version of the schema, however the documents are cached. */
const selectionText = ({ version }: CallerGraphqlSchema, request: GraphqlRequest): string => {
  const { query, operationName, variables } = request;
  const text = JSON.stringify([version, query, operationName, variables]);
  return `s${createHash('sha256').update(text).digest('base64url')}`;
};

function createResponseRenderer(
  rootKey: string,
  members: readonly RowChangeMember[],
): GraphqlSubscription['renderResponse'] {
  return (event: RowChangeEvent, key: string, row: string | undefined): string => {
    const values = row === undefined ? [] : splitJsonObject(row);
    let at = 0;
    const renderMember = (member: RowChangeMember): string => {
      switch (member.kind) {
        case 'constant':
          return JSON.stringify(member.value);
        case 'event':
          return JSON.stringify(event);
        case 'row key':
          return member.isReadable ? JSON.stringify(key) : 'null';
        case 'data':
          return values[at++] ?? 'null';
      }
    };
    const change = members.map((member) => `"${member.key}":${renderMember(member)}`).join(',');
    return `{"data":{"${rootKey}":{${change}}}}`;
  };
}
