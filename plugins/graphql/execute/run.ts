import { type GraphQLError, getVariableValues, type VariableValues } from 'graphql';
import { fail, type Log } from '#kernel';
import type { Items } from '../../items/contract.ts';
import type { Query, Terms } from '../../query/contract.ts';
import type { Schema } from '../../schema/contract.ts';
import type { GraphqlCall } from '../contract.ts';
import { DocumentFailure } from '../document/failure.ts';
import type { Translating } from '../plan/selection.ts';
import type { BuiltSchema } from '../schema/schemas.ts';
import type { Operation } from './answer.ts';

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
  readonly suggests: boolean;
}

/** One operation while it runs. */
export interface Run extends Operation {
  readonly built: BuiltSchema;
  readonly call: GraphqlCall;
  /** Of their types, with defaults. */
  readonly coerced: VariableValues;
}

/** Values of what a request may be wrong about at the same time. */
const MOST_ERRORS = 20;
/** Each mistake is told with the value around it, which takes long where that is large. */
const LARGE = 1000;

/** The variables as the operation declares them. Throws a DocumentFailure. */
export function coerced(
  { suggests }: ExecuteDeps,
  { schema }: BuiltSchema,
  { node, variables }: Operation,
): VariableValues {
  const { variableValues, errors } = getVariableValues(schema, node.variableDefinitions ?? [], variables, {
    maxErrors: isLarge(variables) ? 1 : MOST_ERRORS,
    hideSuggestions: !suggests,
  });
  if (variableValues) return variableValues;
  throw new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', errors as readonly GraphQLError[]);
}

/** Has it more entries than that, those inside of others included? */
function isLarge(variables: object): boolean {
  const left: object[] = [variables];
  let entries = 0;
  for (let one = left.pop(); one; one = left.pop()) {
    const values = Object.values(one);
    entries += values.length;
    if (entries > LARGE) return true;
    left.push(...values.filter((value) => typeof value === 'object' && value !== null));
  }
  return false;
}

/** Counts what is looked at: fragments inside each other make large trees of small documents. */
export function counter(most: number, tooMany: () => Error): () => void {
  let spent = 0;
  return () => {
    if (++spent > most) throw tooMany();
  };
}

/** To translate one root field with. */
export function translating(
  { ceilings }: ExecuteDeps,
  { built, document, coerced: variables }: Run,
  onTerms?: (collection: string, terms: Terms) => void,
): Translating {
  const { depth, nodes } = ceilings;
  return {
    schema: built.schema,
    fragments: document.fragments,
    variables,
    deepest: depth,
    spend: counter(nodes, () =>
      fail('INVALID_QUERY', `the field asks for more than the ${nodes} parts allowed (QUERY_MAX_NODES)`),
    ),
    ...(onTerms ? { onTerms } : {}),
  };
}
