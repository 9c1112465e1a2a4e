import type { GraphQLSchema } from 'graphql';
import { type Caller, envelope, Failure } from '#kernel';
import { permittedFields } from '../../../../plugins/access/permitted-fields.ts';
import { createDocumentCaches } from '../../../../plugins/graphql/document/document-cache.ts';
import { DocumentFailure } from '../../../../plugins/graphql/document/failure.ts';
import { createExecute } from '../../../../plugins/graphql/execute/execute.ts';
import type { ExecuteDeps } from '../../../../plugins/graphql/execute/operation-run.ts';
import { buildSchema } from '../../../../plugins/graphql/schema/build.ts';
import { CEILINGS, createPermissions, type QueryCase, readCaseText, type TestSchema } from '../../query/harness.ts';
import type { DocumentRequest } from './entries.ts';

/**
 * The bytes of `data`, or the error code; `GRAPHQL_VALIDATION_EXCEPTION` and `INVALID_PAYLOAD` before the document ran.
 */
export type CaseAnswer = { readonly data: string } | { readonly refused: string };

const LIMITS = { tokens: 5000, aliases: 100, rootFields: 50, relations: 10, nodes: 2000, introspection: true };

const refuseWrite = () => {
  throw new Error('only reads are run here');
};
const errorLog = { debug: () => {}, error: (about: unknown) => console.error(about) };

/** Schemas by schema snapshot and permissions. */
const schemaCache = new WeakMap<TestSchema, Map<string, GraphQLSchema>>();

export function schemaOfCase(one: QueryCase, ground: TestSchema): GraphQLSchema {
  const known = schemaCache.get(ground) ?? new Map<string, GraphQLSchema>();
  schemaCache.set(ground, known);
  const key = JSON.stringify(one.rules ?? 'everything');
  const found =
    known.get(key) ??
    buildSchema({
      snapshot: ground.schema,
      permissions: createPermissions(one),
      permittedFields,
      scope: 'items',
      contributed: [],
      warn: () => {},
    });
  known.set(key, found);
  return found;
}

/** Runs a document through all of the graphql plugin, with the database of a fixture. */
export async function runDocument(
  one: QueryCase,
  ground: TestSchema,
  { text, variables }: DocumentRequest,
): Promise<CaseAnswer> {
  const ceilings = { ...CEILINGS, ...one.ceilings };
  const schema = schemaOfCase(one, ground);
  const deps = {
    items: {
      select: (_caller: Caller, _collection: string, { selection }: { selection: () => never }) =>
        readCaseText(one, ground, selection()),
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
    const documents = createDocumentCaches(LIMITS)(schema);
    const document = documents.get(text);
    const [node] = [...document.operations.values()];
    if (!node) throw new Error('no operation');
    const built = { schema, scope: 'items', version: ground.schema.version, documents } as const;
    const call = { caller: { admin: false } as Caller, ctx: {} as never };
    const answer = await createExecute(deps)(built, { document, node, variables }, call);
    if (answer.kind === 'parts') throw new Error('nothing is long here');
    return answer.failed ? { refused: codeOf(answer.text) } : { data: answer.text.slice('{"data":'.length, -1) };
  } catch (error) {
    if (!(error instanceof Failure || error instanceof DocumentFailure)) throw error;
    return { refused: codeOf(JSON.stringify(envelope(error, { admin: false }).body)) };
  }
}

const codeOf = (text: string): string => JSON.parse(text).errors[0].extensions.code;
