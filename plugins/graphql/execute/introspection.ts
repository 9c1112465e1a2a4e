import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Root } from '../plan/roots.ts';
import { completed } from './completed.ts';
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
  const outcome = await completed(run, root);
  if (!outcome.errors?.length) known.set(question, outcome);
  return outcome;
}
