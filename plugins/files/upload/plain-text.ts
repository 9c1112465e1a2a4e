/** Beginnings of text formats that are not plain text. */
const MARKUP = /^\s*(?:<|%|\{\\rtf)/;

/** True for text without markup, which needs no inspection. Judged by the head of the file alone. */
export function isHeadPlainText(head: Uint8Array): boolean {
  for (const byte of head) {
    if (byte < 0x20 ? byte < 0x09 || (byte > 0x0d && byte !== 0x1b) : byte === 0x7f) return false;
  }
  let text: string;
  try {
    // The head may end in the middle of a character.
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  return !MARKUP.test(text);
}
