/** Something the guest's realm has said (`guest/outbox.ts`), cut into the words of its first line and a body. */
export interface Said {
  readonly words: readonly string[];
  readonly body: string;
  /** There is more to fetch. */
  readonly more: boolean;
}

export function read(text: string): Said {
  const end = text.indexOf('\n');
  const line = end < 0 ? text.slice(1) : text.slice(1, end);
  return { words: line.split(' '), body: end < 0 ? '' : text.slice(end + 1), more: text[0] === '+' };
}
