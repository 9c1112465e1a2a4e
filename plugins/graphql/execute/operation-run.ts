import { type GraphQLError, getVariableValues, type VariableValues } from 'graphql';
import { fail, type Log } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { QueryEngine, SelectionListParameters } from '../../query/contract.ts';
import type { SchemaService } from '../../schema/contract.ts';
import type { GraphqlResolverContext } from '../contract.ts';
import { GraphqlDocumentFailure } from '../document/failure.ts';
import { schemaIndependentFailure } from '../document/limits.ts';
import type { GraphqlSelectionContext } from '../plan/selection.ts';
import type { CallerGraphqlSchema } from '../schema/schema-cache.ts';
import type { GraphqlOperation } from './operation-and-response-types.ts';

export interface GraphqlExecutionDeps {
  readonly items: Pick<
    ItemsEngine,
    | 'select'
    | 'checkQuery'
    | 'createOne'
    | 'createMany'
    | 'updateOne'
    | 'updateMany'
    | 'updateEach'
    | 'upsertSingleton'
    | 'deleteMany'
  >;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly ceilings: Pick<QueryEngine['ceilings'], 'depth' | 'nodes'>;
  readonly log: Log;
  /** Whether the error of an invalid variable suggests similar names. */
  readonly showsSuggestions: boolean;
}

/** The execution of a GraphQL operation for one request. */
export interface GraphqlOperationRun extends GraphqlOperation {
  readonly callerSchema: CallerGraphqlSchema;
  readonly call: GraphqlResolverContext;
  /** Variables coerced to their types, with defaults. */
  readonly coercedVariables: VariableValues;
}

/** Errors of variables in one response. */
const MAX_ERRORS = 20;
/** Each error quotes the surrounding value, so for larger variables only the first error is reported. */
const MAX_ENTRIES_FOR_ALL_ERRORS = 1000;

/** Coerces the variables to the types that the operation declares. @throws DocumentFailure */
export function coerceVariables(
  { showsSuggestions }: GraphqlExecutionDeps,
  { schema }: CallerGraphqlSchema,
  { node, variables }: GraphqlOperation,
): VariableValues {
  const { variableValues, errors } = getVariableValues(schema, node.variableDefinitions ?? [], variables, {
    maxErrors: isLarge(variables) ? 1 : MAX_ERRORS,
    hideSuggestions: !showsSuggestions,
  });
  if (variableValues) return variableValues;
  throw new GraphqlDocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', errors as readonly GraphQLError[]);
}

/** Whether the variables have more than MAX_ENTRIES_FOR_ALL_ERRORS entries, nested ones included. */
function isLarge(variables: object): boolean {
  const pending: object[] = [variables];
  let entries = 0;
  for (let current = pending.pop(); current; current = pending.pop()) {
    const values = Object.values(current);
    entries += values.length;
    if (entries > MAX_ENTRIES_FOR_ALL_ERRORS) return true;
    pending.push(...values.filter((value) => typeof value === 'object' && value !== null));
  }
  return false;
}

/** A counter of visited entries that throws over `limit`: nested fragments make large trees of small documents. */
export function createLimitedCounter(limit: number, tooMany: () => Error): () => void {
  let count = 0;
  return () => {
    if (++count > limit) throw tooMany();
  };
}

/** The counter of what an operation selects at its root. */
export const createRootFieldCounter = ({ ceilings: { nodes } }: GraphqlExecutionDeps): (() => void) =>
  createLimitedCounter(nodes, () =>
    schemaIndependentFailure(
      `The document asks for more at its root than the ${nodes} parts allowed (QUERY_MAX_NODES).`,
    ),
  );

/** The context in which one root field is translated to a selection of the items engine. */
export function createGraphqlSelectionContext(
  { ceilings }: GraphqlExecutionDeps,
  { callerSchema, document, coercedVariables: variables }: Omit<GraphqlOperationRun, 'call'>,
  onParameters?: (collection: string, terms: SelectionListParameters) => void,
): GraphqlSelectionContext {
  const { depth, nodes } = ceilings;
  return {
    schema: callerSchema.schema,
    fragments: document.fragments,
    variables,
    maxDepth: depth,
    spend: createLimitedCounter(nodes, () =>
      fail('INVALID_QUERY', `the field asks for more than the ${nodes} parts allowed (QUERY_MAX_NODES)`),
    ),
    ...(onParameters ? { onParameters } : {}),
  };
}
