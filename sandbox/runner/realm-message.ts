/** A message of the guest's realm (`guest/outbox.ts`), split into the words of its first line and a body. */
export interface RealmMessage {
  readonly words: readonly string[];
  readonly body: string;
  /** True where another message can be fetched. */
  readonly hasMore: boolean;
}

export function parseRealmMessage(text: string): RealmMessage {
  const end = text.indexOf('\n');
  const line = end < 0 ? text.slice(1) : text.slice(1, end);
  return { words: line.split(' '), body: end < 0 ? '' : text.slice(end + 1), hasMore: text[0] === '+' };
}
