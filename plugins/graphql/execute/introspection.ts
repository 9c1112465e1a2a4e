import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Root } from '../plan/roots.ts';
import { completed } from './completed.ts';
import { introspectionText } from './introspection-text.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './run.ts';

/** Questions remembered of one schema: tools ask the same one, each time somebody opens them. */
const QUESTIONS = 3;

const told = new WeakMap<GraphQLSchema, LRUCache<string, Outcome>>();

/** What a schema says of itself. Of a large one that takes long to put together, and it stays the same. */
export async function introspected(run: Run, root: Root): Promise<Outcome> {
  const { schema } = run.built;
  const known = told.get(schema) ?? new LRUCache({ max: QUESTIONS });
  told.set(schema, known);
  const question = root.text(run.coerced);
  const before = known.get(question);
  if (before) return before;
  // A schema is written without a pause: other requests have their turn between one and the next.
  await new Promise((resume) => setImmediate(resume));
  const outcome = textOutcome(run, root) ?? (await completed(run, root));
  if (!outcome.errors?.length) known.set(question, outcome);
  return outcome;
}

/** Undefined where something fails: GraphQL itself answers then, with its errors. */
function textOutcome({ built, document, coerced }: Run, root: Root): Outcome | undefined {
  // How much a document may ask of the schema is checked when it is validated.
  const spend = () => {};
  try {
    return {
      text: introspectionText({ schema: built.schema, fragments: document.fragments, variables: coerced, spend }, root),
    };
  } catch {
    return undefined;
  }
}
