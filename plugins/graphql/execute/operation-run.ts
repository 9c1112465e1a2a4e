import { type GraphQLError, getVariableValues, type VariableValues } from 'graphql';
import { fail, type Log } from '#kernel';
import type { Items } from '../../items/contract.ts';
import type { Query, Terms } from '../../query/contract.ts';
import type { Schema } from '../../schema/contract.ts';
import type { GraphqlCall } from '../contract.ts';
import { DocumentFailure } from '../document/failure.ts';
import type { TranslationContext } from '../plan/selection.ts';
import type { CallerSchema } from '../schema/schema-cache.ts';
import type { Operation } from './response.ts';

export interface ExecuteDeps {
  readonly items: Pick<
    Items,
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
  readonly schema: Pick<Schema, 'overview'>;
  readonly ceilings: Pick<Query['ceilings'], 'depth' | 'nodes'>;
  readonly log: Log;
  /** Whether a wrong variable is answered with names that might have been meant. */
  readonly showsSuggestions: boolean;
}

/** One operation while it runs. */
export interface OperationRun extends Operation {
  readonly callerSchema: CallerSchema;
  readonly call: GraphqlCall;
  /** Of their types, with defaults. */
  readonly coercedVariables: VariableValues;
}

/** Values of what a request may be wrong about at the same time. */
const MAX_ERRORS = 20;
/** Each mistake is told with the value around it, which takes long where that is large. */
const MAX_ENTRIES_FOR_ALL_ERRORS = 1000;

/** The variables as the operation declares them. Throws a DocumentFailure. */
export function coerceVariables(
  { showsSuggestions }: ExecuteDeps,
  { schema }: CallerSchema,
  { node, variables }: Operation,
): VariableValues {
  const { variableValues, errors } = getVariableValues(schema, node.variableDefinitions ?? [], variables, {
    maxErrors: isLarge(variables) ? 1 : MAX_ERRORS,
    hideSuggestions: !showsSuggestions,
  });
  if (variableValues) return variableValues;
  throw new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', errors as readonly GraphQLError[]);
}

/** Has it more entries than that, those inside of others included? */
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

/** Counts what is looked at: fragments inside each other make large trees of small documents. */
export function createCounter(limit: number, tooMany: () => Error): () => void {
  let count = 0;
  return () => {
    if (++count > limit) throw tooMany();
  };
}

/** To translate one root field with. */
export function createTranslation(
  { ceilings }: ExecuteDeps,
  { callerSchema, document, coercedVariables: variables }: OperationRun,
  onParameters?: (collection: string, terms: Terms) => void,
): TranslationContext {
  const { depth, nodes } = ceilings;
  return {
    schema: callerSchema.schema,
    fragments: document.fragments,
    variables,
    maxDepth: depth,
    spend: createCounter(nodes, () =>
      fail('INVALID_QUERY', `the field asks for more than the ${nodes} parts allowed (QUERY_MAX_NODES)`),
    ),
    ...(onParameters ? { onParameters } : {}),
  };
}
