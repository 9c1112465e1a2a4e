import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { RootField } from '../plan/root-fields.ts';
import { executeByLibrary } from './execute-by-library.ts';
import { renderIntrospection } from './introspection-text.ts';
import type { OperationRun } from './operation-run.ts';
import type { RootResult } from './root-result.ts';

/** Questions remembered of one schema: tools ask the same one, each time somebody opens them. */
const MAX_CACHED_QUERIES = 3;

const introspectionCaches = new WeakMap<GraphQLSchema, LRUCache<string, RootResult>>();

/** What a schema says of itself. Of a large one that takes long to put together, and it stays the same. */
export async function resolveIntrospection(run: OperationRun, root: RootField): Promise<RootResult> {
  const { schema } = run.callerSchema;
  const cache = introspectionCaches.get(schema) ?? new LRUCache({ max: MAX_CACHED_QUERIES });
  introspectionCaches.set(schema, cache);
  const cacheKey = root.cacheText(run.coercedVariables);
  const cached = cache.get(cacheKey);
  if (cached) return cached;
  // A schema is written without a pause: other requests have their turn between one and the next.
  await new Promise((resume) => setImmediate(resume));
  const result = renderResult(run, root) ?? (await executeByLibrary(run, root));
  if (!result.errors?.length) cache.set(cacheKey, result);
  return result;
}

/** Undefined where something fails: GraphQL itself answers then, with its errors. */
function renderResult(
  { callerSchema, document, coercedVariables }: OperationRun,
  root: RootField,
): RootResult | undefined {
  // How much a document may ask of the schema is checked when it is validated.
  const spend = () => {};
  try {
    return {
      text: renderIntrospection(
        { schema: callerSchema.schema, fragments: document.fragments, variables: coercedVariables, spend },
        root,
      ),
    };
  } catch {
    return undefined;
  }
}
