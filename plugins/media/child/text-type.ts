/**
 * Types without a magic number: markup, SVG, PDF with leading bytes, text. Assets decide by the type whether a browser may run the
 * content, so the rules are those of browsers (WHATWG, "MIME Sniffing").
 */

/** Tags by which a browser takes bytes for HTML. */
const HTML =
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|img|form|meta|link|object|embed|video|audio|input|button|template|base)[\s>/]/i;

/** What may precede the first element: white space, instructions, comments, a document type with declarations. */
const PROLOG =
  /^(?:\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!doctype\s+(?!html[\s>])[^>[]*(?:\[(?:[^\]"']|"[^"]*"|'[^']*')*\]\s*)?>)/i;

const XHTML = /^<(?:[a-z_][\w.-]*:)?html[\s>]/i;
const SVG = /^<(?:[a-z_][\w.-]*:)?svg[\s>/]/i;
const PDF = /(?:^|[\r\n\0 ])%PDF-[12]\.\d/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no text has these characters
const BINARY = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** Text types that content cannot distinguish. The declared type is accepted, since browsers run none of them. */
const DECLARABLE_TEXT_TYPES: ReadonlySet<string> = new Set(
  `text/csv text/markdown text/tab-separated-values text/calendar text/vcard text/css text/x-log text/yaml application/json
  application/ld+json application/geo+json application/x-ndjson application/yaml application/toml application/sql`.split(
    /\s+/,
  ),
);

export function detectTextType(head: Buffer, declared?: string): string | undefined {
  const text = decode(head);
  const markup = detectMarkup(text);
  if (markup) return markup;
  if (PDF.test(head.toString('latin1', 0, 1024))) return 'application/pdf';
  if (head.length === 0 || BINARY.test(text) || !isUnicode(head)) return undefined;
  const declaredType = declared?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return DECLARABLE_TEXT_TYPES.has(declaredType) ? declaredType : 'text/plain';
}

function detectMarkup(text: string): string | undefined {
  const start = text.trimStart();
  if (!start.startsWith('<')) return undefined;
  const root = withoutProlog(start);
  if (SVG.test(root)) return 'image/svg+xml';
  if (/^<\?xml[\s?]/i.test(start)) return XHTML.test(root) ? 'application/xhtml+xml' : 'application/xml';
  // A browser takes a text that begins with a comment for HTML.
  return HTML.test(start) || HTML.test(root) || start.startsWith('<!--') ? 'text/html' : undefined;
}

/** The text from its first element on. */
function withoutProlog(text: string): string {
  let rest = text;
  for (let match = PROLOG.exec(rest); match; match = PROLOG.exec(rest)) rest = rest.slice(match[0].length);
  return rest;
}

/** The root element of an SVG; undefined for any other text. */
export function findSvgRoot(head: Buffer): string | undefined {
  const root = withoutProlog(decode(head).trimStart());
  return SVG.test(root) ? /^<(?:[^>"']|"[^"]*"|'[^']*')*>/.exec(root)?.[0] : undefined;
}

/** Decodes by the byte order mark, else byte by byte, which is enough for tags. */
function decode(head: Buffer): string {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder('utf-16le').decode(head);
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder('utf-16be').decode(head);
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  return head.toString('latin1', hasMark ? 3 : 0);
}

function isUnicode(head: Buffer): boolean {
  const isWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (isWide) return true;
  try {
    // `stream`: the head may end within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
