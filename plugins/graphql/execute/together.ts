import { type Failure, fail } from '#kernel';
import type { ReadText, Stream } from '../../query/contract.ts';
import { textOf } from './reads.ts';

/** Half of the connections a process has by default: no request keeps the others waiting for all of them. */
const AT_ONCE = 5;
/** Characters. They are in memory until the last root field is done; a list by itself is sent while it is read. */
const MOST = 16_000_000;

/** What is left for the texts of one answer. */
export interface Room {
  left: number;
}

/** Does the same for all, a few at a time, and answers in their order. */
export async function together<T, R>(
  all: readonly T[],
  work: (one: T, room: Room) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  // One by itself may be as long as in REST.
  const room = { left: all.length > 1 ? MOST : Number.POSITIVE_INFINITY };
  const left = [...all.entries()].values();
  // Whoever has one done takes the next.
  const worker = async (): Promise<void> => {
    for (const [at, one] of left) done[at] = await work(one, room);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, worker));
  return done;
}

/** A text that takes its part of the room. */
export function placed(text: string, room: Room): string {
  if (text.length > room.left) throw tooLong();
  room.left -= text.length;
  return text;
}

/** A list that may be long, in one piece, and no more of it than there is room for. */
export async function whole(answer: ReadText | Stream, room: Room): Promise<string> {
  if (!('batches' in answer)) return placed(textOf(answer), room);
  const parts: string[] = [];
  let length = 0;
  for await (const batch of answer.batches) {
    const part = batch.join(',');
    length += part.length;
    if (length > room.left) throw tooLong();
    parts.push(part);
  }
  return placed(`[${parts.join(',')}]`, room);
}

const tooLong = (): Failure =>
  fail(
    'INVALID_QUERY',
    `The root fields of the document have more than ${MOST} characters together: ask for long lists by themselves.`,
  );
