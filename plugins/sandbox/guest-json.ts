/** Depth of nested lists and objects, the same as for JSON bodies over HTTP. */
const MAX_DEPTH = 100;

/**
 * Parses JSON that confined code wrote. Throws a SyntaxError also for values nested so deeply that a recursive walk
 * would exhaust the stack.
 */
export function parseGuestJson(text: string): unknown {
  if (text.length > 2 * MAX_DEPTH && measureDepth(text) > MAX_DEPTH) throw new SyntaxError('nested too deeply');
  return JSON.parse(text);
}

/** The nesting depth of a text, which need not be JSON. Stops at the limit. */
function measureDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === BRACKET || code === BRACE) {
      if (++depth > deepest) deepest = depth;
      if (deepest > MAX_DEPTH) break;
    } else if (code === BRACKET + 2 || code === BRACE + 2) depth--;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** The index of the quote that ends the string begun at `from`. */
function findStringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
