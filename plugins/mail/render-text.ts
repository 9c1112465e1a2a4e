import { MAIL_LIMITS } from './limits.ts';

/** Nesting and children of HTML that are read, since the converter is recursive. */
const HTML_LIMITS = { maxDepth: 60, maxChildNodes: 10_000, maxBaseElements: 10, maxInputLength: MAIL_LIMITS.html };

/** The text alternative of HTML: links with their addresses, no images, lines of 78 characters. */
export async function renderText(html: string): Promise<string> {
  // Loaded with the first message that needs it.
  const { convert } = await import('html-to-text');
  const text = convert(html, {
    wordwrap: 78,
    limits: HTML_LIMITS,
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  });
  return text.slice(0, MAIL_LIMITS.text);
}
