import type { GraphQLSchema } from 'graphql';
import { type Caller, errorEnvelope, Failure } from '#kernel';
import { createOperationExecutor } from '../../../../plugins/graphql/execute/execute.ts';
import { CustomFailure } from '../../../../plugins/http/library.ts';
import {
  createQueryCasePermissions,
  type QueryCase,
  type QueryTestDatabase,
  runCaseAsJsonText,
} from '../../query/query-cases.ts';
import { TEST_QUERY_CEILINGS } from '../../query/query-engine.ts';
import { DEFAULT_DOCUMENT_LIMITS } from '../document-schema.ts';
import { createCallerSchema, prepareOperation } from '../plan/operations.ts';
import { buildTestGraphqlSchema } from '../schema/test-schema.ts';
import type { DocumentRequest } from './document-entries.ts';

type ExecuteDeps = Parameters<typeof createOperationExecutor>[0];

/**
 * The JSON text of `data`, or the error code: `GRAPHQL_VALIDATION_EXCEPTION` and `INVALID_PAYLOAD` for an invalid document.
 */
export type GraphqlCaseAnswer = { readonly data: string } | { readonly refused: string };

const refuseWrite = () => {
  throw new Error('only reads are run here');
};
const errorLog = { debug: () => {}, error: (about: unknown) => console.error(about) };

/** Built GraphQL schemas, by schema snapshot and permissions. */
const schemaCache = new WeakMap<QueryTestDatabase, Map<string, GraphQLSchema>>();

export function buildGraphqlSchemaOfCase(one: QueryCase, ground: QueryTestDatabase): GraphQLSchema {
  const known = schemaCache.get(ground) ?? new Map<string, GraphQLSchema>();
  schemaCache.set(ground, known);
  const key = JSON.stringify(one.rules ?? 'everything');
  const found =
    known.get(key) ?? buildTestGraphqlSchema(ground.schema, { permissions: createQueryCasePermissions(one) }).schema;
  known.set(key, found);
  return found;
}

/** Parses, validates and executes a document on the database of a test schema. */
export async function runGraphqlDocumentOfCase(
  one: QueryCase,
  ground: QueryTestDatabase,
  { text, variables }: DocumentRequest,
): Promise<GraphqlCaseAnswer> {
  const ceilings = { ...TEST_QUERY_CEILINGS, ...one.ceilings };
  const schema = buildGraphqlSchemaOfCase(one, ground);
  const deps = {
    items: {
      select: (_caller: Caller, _collection: string, { selection }: { selection: () => never }) =>
        runCaseAsJsonText(one, ground, selection()),
      ...Object.fromEntries(
        ['createOne', 'createMany', 'updateOne', 'updateMany', 'updateEach', 'upsertSingleton', 'deleteMany'].map(
          (name) => [name, refuseWrite],
        ),
      ),
    },
    schema: { snapshot: async () => ground.schema },
    ceilings,
    log: errorLog,
    showsSuggestions: true,
  } as unknown as ExecuteDeps;
  try {
    const built = createCallerSchema(schema, DEFAULT_DOCUMENT_LIMITS);
    const call = { caller: { admin: false } as Caller, ctx: {} as never, signal: () => new AbortController().signal };
    const answer = await createOperationExecutor(deps)(built, prepareOperation(built, text, variables), call);
    if (answer.kind === 'parts') throw new Error('nothing is long here');
    return answer.failed ? { refused: codeOf(answer.text) } : { data: answer.text.slice('{"data":'.length, -1) };
  } catch (error) {
    if (!(error instanceof Failure || error instanceof CustomFailure)) throw error;
    return { refused: codeOf(JSON.stringify(errorEnvelope(error, { admin: false }).body)) };
  }
}

const codeOf = (text: string): string => JSON.parse(text).errors[0].extensions.code;
