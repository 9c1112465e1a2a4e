/** Beginnings of formats that are written as text. */
const MARKUP = /^\s*(?:<|%|\{\\rtf)/;

/** Is it text without any markup, so that there is nothing to find in it? Judged by the beginning alone. */
export function isPlainText(head: Uint8Array): boolean {
  for (const byte of head) {
    if (byte < 0x20 ? byte < 0x09 || (byte > 0x0d && byte !== 0x1b) : byte === 0x7f) return false;
  }
  let text: string;
  try {
    // The beginning may end in the middle of a letter.
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  return !MARKUP.test(text);
}
