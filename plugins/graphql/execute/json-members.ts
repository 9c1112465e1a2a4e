/**
 * The members of an object in JSON text, as texts of their values, in their order. The text is not parsed, so that no digit of a number
 * is lost.
 */
export function splitJsonObject(text: string): readonly string[] {
  const values: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        depth--;
        if (depth === 0 && start > 0) values.push(text.slice(start, at));
        break;
      case ':':
        if (depth === 1 && start === 0) start = at + 1;
        break;
      case ',':
        if (depth !== 1) break;
        values.push(text.slice(start, at));
        start = 0;
        break;
    }
  }
  return values;
}

/** The position of the closing quote of the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
