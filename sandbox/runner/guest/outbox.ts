/**
 * What this realm has to say. The runner fetches it after every entry, so no function of the runner exists in here that
 * could be reached. A message is `<kind> <id> <rest of header>`, a line break, and a body passed on unread.
 */
type Message = { readonly text: string; next: Message | null };

let first: Message | null = null;
let last: Message | null = null;

export function post(text: string): void {
  const message = { __proto__: null, text, next: null } as unknown as Message;
  if (last === null) first = message;
  else last.next = message;
  last = message;
}

/** To be fetched before anything else. */
export function postFirst(text: string): void {
  first = { __proto__: null, text, next: first } as unknown as Message;
  if (last === null) last = first;
}

/** The oldest message behind a `+` where more are waiting, else a `-`; undefined for none. */
export function fetch(): string | undefined {
  if (first === null) return undefined;
  const { text } = first;
  first = first.next;
  if (first === null) last = null;
  return (first === null ? '-' : '+') + text;
}
