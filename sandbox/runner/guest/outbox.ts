/**
 * Messages of this realm. The runner fetches them after every entry, so that the realm needs no function of the runner.
 * A message is `<kind> <id> <rest of header>`, a line break, and a body that is passed on unparsed.
 */
type Message = { readonly text: string; next: Message | null };

let first: Message | null = null;
let last: Message | null = null;

export function queueOutboxMessage(text: string): void {
  const message = { __proto__: null, text, next: null } as unknown as Message;
  if (last === null) first = message;
  else last.next = message;
  last = message;
}

/** Posts a message that is fetched before all others. */
export function queueOutboxMessageFirst(text: string): void {
  first = { __proto__: null, text, next: first } as unknown as Message;
  if (last === null) last = first;
}

/**
 * Removes and returns the oldest message, prefixed with `+` where more are waiting, else with `-`; undefined for none.
 */
export function takeOldestOutboxMessage(): string | undefined {
  if (first === null) return undefined;
  const { text } = first;
  first = first.next;
  if (first === null) last = null;
  return (first === null ? '-' : '+') + text;
}
