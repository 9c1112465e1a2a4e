import { type Failure, fail } from '#kernel';
import type { ReadResultText, RowStream } from '../../query/contract.ts';
import { readResultTextOf } from './reads.ts';

/**
 * Root fields of a request that are read at the same time: half of the database connections of a process by default, so
 * that one request never holds all of them.
 */
const CONCURRENCY = 5;
/**
 * Characters of all root fields, which stay in memory until the last one is done. A single list is streamed instead.
 */
const MAX_CHARACTERS = 16_000_000;

/** The characters left for the texts of one response. */
export interface TextBudget {
  left: number;
}

/** Maps all entries, a few at a time, and returns the results in their order. */
export async function mapConcurrently<T, R>(
  all: readonly T[],
  mapEntry: (one: T, budget: TextBudget) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  // A single root field has no limit beyond that of REST.
  const budget = { left: all.length > 1 ? MAX_CHARACTERS : Number.POSITIVE_INFINITY };
  const queue = [...all.entries()].values();
  // The workers share one iterator.
  const worker = async (): Promise<void> => {
    for (const [at, one] of queue) results[at] = await mapEntry(one, budget);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, all.length) }, worker));
  return results;
}

/** Takes the length of a text from the budget. @throws INVALID_QUERY over the budget. */
export function takeFromBudget(text: string, budget: TextBudget): string {
  if (text.length > budget.left) throw createTooLongFailure();
  budget.left -= text.length;
  return text;
}

/** Reads a possibly long list completely. @throws INVALID_QUERY over the budget. */
export async function readCompleteListText(answer: ReadResultText | RowStream, budget: TextBudget): Promise<string> {
  if (!('batches' in answer)) return takeFromBudget(readResultTextOf(answer), budget);
  const parts: string[] = [];
  let length = 0;
  for await (const batch of answer.batches) {
    const part = batch.join(',');
    length += part.length;
    if (length > budget.left) throw createTooLongFailure();
    parts.push(part);
  }
  return takeFromBudget(`[${parts.join(',')}]`, budget);
}

const createTooLongFailure = (): Failure =>
  fail(
    'INVALID_QUERY',
    `The root fields of the document have more than ${MAX_CHARACTERS} characters together: ask for long lists by themselves.`,
  );
