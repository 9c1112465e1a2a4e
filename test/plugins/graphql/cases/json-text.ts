/** Parsed JSON that keeps the text of every value, so that bytes can be compared. */
export type JsonWithText =
  | { readonly kind: 'object'; readonly of: ReadonlyMap<string, JsonWithText>; readonly text: string }
  | { readonly kind: 'list'; readonly of: readonly JsonWithText[]; readonly text: string }
  | { readonly kind: 'value'; readonly text: string };

/** One JSON token: a string, a number, `true`, `false` or `null`, or a punctuator. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[-+.\w]+|[[\]{}:,])/gy;

export function parseJsonWithText(text: string): JsonWithText {
  let at = 0;
  let from = 0;
  const next = (): string => {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found?.[1]) throw new Error(`no JSON at ${at}: ${text.slice(at, at + 40)}`);
    at = TOKEN.lastIndex;
    from = at - found[1].length;
    return found[1];
  };
  const peek = (): string => {
    const before = at;
    const token = next();
    at = before;
    return token;
  };
  const listed = (end: string, one: () => void): void => {
    if (peek() === end) return void next();
    do one();
    while (next() === ',');
  };
  const value = (): JsonWithText => {
    const token = next();
    const start = from;
    if (token === '{') {
      const of = new Map<string, JsonWithText>();
      listed('}', () => {
        const key = JSON.parse(next());
        next();
        of.set(key, value());
      });
      return { kind: 'object', of, text: text.slice(start, at) };
    }
    if (token === '[') {
      const of: JsonWithText[] = [];
      listed(']', () => void of.push(value()));
      return { kind: 'list', of, text: text.slice(start, at) };
    }
    return { kind: 'value', text: token };
  };
  return value();
}
