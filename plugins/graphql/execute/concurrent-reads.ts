import { type Failure, fail } from '#kernel';
import type { ReadText, Stream } from '../../query/contract.ts';
import { jsonTextOf } from './reads.ts';

/** Half of the connections a process has by default: no request keeps the others waiting for all of them. */
const CONCURRENCY = 5;
/** Characters. They are in memory until the last root field is done; a list by itself is sent while it is read. */
const MAX_CHARACTERS = 16_000_000;

/** What is left for the texts of one answer. */
export interface TextBudget {
  left: number;
}

/** Does the same for all, a few at a time, and answers in their order. */
export async function mapConcurrently<T, R>(
  all: readonly T[],
  work: (one: T, budget: TextBudget) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  // One by itself may be as long as in REST.
  const room = { left: all.length > 1 ? MAX_CHARACTERS : Number.POSITIVE_INFINITY };
  const left = [...all.entries()].values();
  // Whoever has one done takes the next.
  const worker = async (): Promise<void> => {
    for (const [at, one] of left) results[at] = await work(one, room);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, all.length) }, worker));
  return results;
}

/** A text that takes its part of the room. */
export function takeFromBudget(text: string, budget: TextBudget): string {
  if (text.length > budget.left) throw createTooLongFailure();
  budget.left -= text.length;
  return text;
}

/** A list that may be long, in one piece, and no more of it than there is room for. */
export async function readWhole(answer: ReadText | Stream, budget: TextBudget): Promise<string> {
  if (!('batches' in answer)) return takeFromBudget(jsonTextOf(answer), budget);
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
