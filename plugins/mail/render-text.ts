import { MAIL_LIMITS } from './limits.ts';

/** Nesting and children of HTML that are read, since the converter is recursive. */
const HTML_LIMITS = { maxDepth: 60, maxChildNodes: 10_000, maxBaseElements: 10, maxInputLength: MAIL_LIMITS.html };
/**
 * Tags that are read. The time of the converter grows with the square of unclosed tags, and it runs in this process: half a megabyte of
 * `<li>` would block the service for twenty seconds.
 */
const MAX_TAGS = 5000;
const CUT = '\n\n[…]';

/** The text alternative of HTML: links with their addresses, no images, lines of 78 characters. HTML of many tags is cut. */
export async function renderText(html: string): Promise<string> {
  // Loaded with the first message that needs it.
  const { convert } = await import('html-to-text');
  const readable = html.slice(0, findEnd(html));
  const text = convert(readable, {
    wordwrap: 78,
    limits: HTML_LIMITS,
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  });
  return text.slice(0, MAIL_LIMITS.text) + (readable.length < html.length ? CUT : '');
}

/** Where the tag after the last one that is read begins. */
function findEnd(html: string): number {
  let at = -1;
  for (let count = 0; count <= MAX_TAGS; count++) {
    at = html.indexOf('<', at + 1);
    if (at === -1) return html.length;
  }
  return at;
}
