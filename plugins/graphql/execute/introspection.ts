import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { SelectedRootField } from '../plan/root-fields.ts';
import { executeByGraphqlPackage } from './execute-by-graphql-package.ts';
import type { GraphqlOperationRun } from './operation-run.ts';
import { renderIntrospection } from './render-introspection.ts';
import type { RootFieldResult } from './root-result.ts';

/** Cached introspection queries of one schema: a tool sends the same one each time it starts. */
const MAX_CACHED_QUERIES = 3;

const introspectionCaches = new WeakMap<GraphQLSchema, LRUCache<string, RootFieldResult>>();

/** Executes introspection. The answer of a large schema takes long and never changes, so it is cached. */
export async function resolveIntrospection(
  run: GraphqlOperationRun,
  root: SelectedRootField,
): Promise<RootFieldResult> {
  const { schema } = run.callerSchema;
  const cache = introspectionCaches.get(schema) ?? new LRUCache({ max: MAX_CACHED_QUERIES });
  introspectionCaches.set(schema, cache);
  const cacheKey = root.cacheText(run.coercedVariables);
  const cached = cache.get(cacheKey);
  if (cached) return cached;
  // Rendering has no pause, so other requests run before it.
  await new Promise((resume) => setImmediate(resume));
  const result = renderResult(run, root) ?? (await executeByGraphqlPackage(run, root));
  if (!result.errors?.length) cache.set(cacheKey, result);
  return result;
}

/** Renders introspection as text; undefined when this fails: then the graphql package answers, with its errors. */
function renderResult(
  { callerSchema, document, coercedVariables }: GraphqlOperationRun,
  root: SelectedRootField,
): RootFieldResult | undefined {
  // The limit of introspection was checked by validation.
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
