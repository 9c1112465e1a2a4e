import { type Caller, fail } from '#kernel';
import type { ItemsEngine } from '../items/contract.ts';
import type { RawQuery, ReadResultText, RowStream } from '../query/contract.ts';

/** Characters of a list that one message may have. By GraphQL it is the same. */
const MAX_CHARACTERS = 4_000_000;

/**
 * `ItemsEngine.readMany` for sockets: a list that is too long ends while it is read, before all of it is in memory.
 * @throws INVALID_QUERY for a list of more than 4 million characters, and what `readMany` throws
 */
export async function readList(
  items: Pick<ItemsEngine, 'stream'>,
  caller: Caller,
  collection: string,
  query: RawQuery,
): Promise<ReadResultText> {
  const answer = await items.stream(caller, collection, query);
  return 'batches' in answer ? joinBatches(answer) : assertReadLength(answer);
}

async function joinBatches({ meta, batches }: RowStream): Promise<ReadResultText> {
  const texts: string[] = [];
  let length = 0;
  for await (const batch of batches) {
    for (const row of batch) length += row.length + 1;
    if (length > MAX_CHARACTERS) throw createTooLongFailure();
    texts.push(batch.join());
  }
  return { data: `[${texts.join()}]`, meta };
}

/** For reads by key. @throws INVALID_QUERY as `readList` */
export function assertReadLength(answer: ReadResultText): ReadResultText {
  if ((answer.data?.length ?? 0) > MAX_CHARACTERS) throw createTooLongFailure();
  return answer;
}

const createTooLongFailure = () =>
  fail('INVALID_QUERY', `The answer has more than ${MAX_CHARACTERS} characters: ask for fewer rows, or by HTTP.`);
