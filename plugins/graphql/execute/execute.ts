import { OperationTypeNode } from 'graphql';
import { currentAnswerSources } from '../../query/library.ts';
import { schemaIndependentFailure } from '../document/limits.ts';
import { findRootFields, type SelectedRootField } from '../plan/root-fields.ts';
import { mapConcurrently, readCompleteListText, takeFromBudget } from './concurrent-reads.ts';
import { assertAtMostOneOnceField, resolveContributedGraphqlField } from './contributed-field.ts';
import { resolveIntrospection } from './introspection.ts';
import type { ExecuteOperation, GraphqlResponse } from './operation-and-response-types.ts';
import {
  coerceVariables,
  createRootFieldCounter,
  type GraphqlExecutionDeps,
  type GraphqlOperationRun,
} from './operation-run.ts';
import { type ReadFieldBinding, readResultTextOf, readRootField } from './reads.ts';
import {
  createGraphqlResponse,
  failRootField,
  type SettledRootField,
  settleRootField,
} from './response-from-root-fields.ts';
import type { RootFieldResult } from './root-result.ts';
import { streamSingleListResponse } from './streamed-list-response.ts';
import { assertVariableRepetitionLimit } from './variable-repetition.ts';
import { executeMutationField } from './writes.ts';

/**
 * Creates the function that executes GraphQL operations. Each read is one statement of the items engine, whose JSON
 * texts are joined unchanged.
 */
export function createOperationExecutor(deps: GraphqlExecutionDeps): ExecuteOperation {
  return async (callerSchema, operation, call) => {
    const { document, node } = operation;
    if (node.operation === OperationTypeNode.SUBSCRIPTION)
      throw schemaIndependentFailure(
        callerSchema.schema.getSubscriptionType()
          ? 'Subscriptions are answered on the WebSocket of this path, and as an event stream (Accept: text/event-stream).'
          : 'Subscriptions are not supported.',
      );
    const run: GraphqlOperationRun = {
      ...operation,
      callerSchema,
      call,
      coercedVariables: coerceVariables(deps, callerSchema, operation),
    };
    assertVariableRepetitionLimit(run);
    const spend = createRootFieldCounter(deps);
    const roots = findRootFields(callerSchema, document, node, { variables: run.coercedVariables, spend });
    assertAtMostOneOnceField(roots);
    const [only] = roots;
    if (roots.length === 1 && only?.binding?.kind === 'list') return executeSingleList(deps, run, only, only.binding);
    return createGraphqlResponse(
      node.operation === OperationTypeNode.MUTATION
        ? await executeWrites(deps, run, roots)
        : await executeReads(deps, run, roots),
    );
  };
}

/** Executes a single list, which is streamed when it is long. */
async function executeSingleList(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
  binding: ReadFieldBinding,
): Promise<GraphqlResponse> {
  try {
    const answer = await readRootField(deps, run, root, binding, 'long');
    if ('batches' in answer) return { kind: 'parts', parts: streamSingleListResponse(root.key, answer) };
    return createGraphqlResponse([{ key: root.key, text: readResultTextOf(answer), errors: [], isFatal: false }]);
  } catch (error) {
    return createGraphqlResponse([failRootField(deps, run, root, error)]);
  }
}

const executeReads = (
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  roots: readonly SelectedRootField[],
): Promise<readonly SettledRootField[]> =>
  mapConcurrently(roots, (root, budget) =>
    settleRootField(deps, run, root, async () => {
      const { binding } = root;
      if (binding?.kind === 'list')
        return { text: await readCompleteListText(await readRootField(deps, run, root, binding, 'long'), budget) };
      const result = await resolveRoot(deps, run, root);
      // Introspection has a limit of its own (document/introspection-cost.ts).
      return result.text === null || !binding ? result : { ...result, text: takeFromBudget(result.text, budget) };
    }),
  );

/** Executes mutations one after the other, as the GraphQL specification requires, until a non-null one fails. */
async function executeWrites(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  roots: readonly SelectedRootField[],
): Promise<readonly SettledRootField[]> {
  const done: SettledRootField[] = [];
  for (const root of roots) {
    const result = await settleRootField(deps, run, root, () => resolveRoot(deps, run, root));
    done.push(result);
    if (result.isFatal) break;
  }
  return done;
}

async function resolveRoot(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
): Promise<RootFieldResult> {
  const { binding, field } = root;
  if (!isMadeOfStatements(root)) currentAnswerSources()?.markUncacheable();
  if (!binding)
    return field.name === '__typename' ? { text: JSON.stringify(rootTypeName(run)) } : resolveIntrospection(run, root);
  switch (binding.kind) {
    case 'nothing':
    case 'row changes':
      return { text: 'null' };
    case 'contributed':
      return resolveContributedGraphqlField(deps, run, root, binding.field);
    case 'list':
    case 'singleton':
    case 'by id':
    case 'aggregated':
      return { text: readResultTextOf(await readRootField(deps, run, root, binding)) };
    default:
      return { text: await executeMutationField(deps, run, root, binding) };
  }
}

const STATEMENT_KINDS: ReadonlySet<string> = new Set(['nothing', 'list', 'singleton', 'by id', 'aggregated']);

/** Whether the value of a root field is made of statements alone. Introspection and fields of other plugins are not. */
const isMadeOfStatements = ({ binding, field }: SelectedRootField): boolean =>
  binding ? STATEMENT_KINDS.has(binding.kind) : field.name === '__typename';

const rootTypeName = ({ callerSchema, node }: GraphqlOperationRun): string | undefined =>
  callerSchema.schema.getRootType(node.operation)?.name;
