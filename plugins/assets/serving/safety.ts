/** Of types whose documents can run programs, or look like a page of ours, when a browser opens them by their address. */
const ACTIVE = /html|\bxml|xsl|svg|(?:java|ecma|live|vb|\bj)script|flash|^multipart\/|^message\//;

/** Nothing runs, nothing is fetched, no form is sent, and the document is of no origin: it reaches no cookie or storage. */
const SANDBOXED =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

/**
 * For everything else: no programs either, but what the browsers' own viewers need of the file itself. A sandbox is what
 * their viewers of PDF refuse to work in.
 */
const SHOWN =
  "default-src 'none'; img-src 'self' data:; media-src 'self' data:; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** The policy for an object of these types, declared and detected: one that is dangerous is enough. */
export const contentPolicy = (...types: readonly (string | null)[]): string =>
  types.some((type) => type !== null && ACTIVE.test(essenceOf(type))) ? SANDBOXED : SHOWN;

const essenceOf = (type: string): string => (type.split(';', 1)[0] as string).trim().toLowerCase();

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))*$`);

const CHARSET = /^[\w.:+-]{1,50}$/;

/** As a header can say it: types come from rows that anybody may have written. */
export function sentType(type: string | null, charset: string | null): string {
  if (type === null || !TYPE.test(type)) return 'application/octet-stream';
  return charset !== null && CHARSET.test(charset) && !type.includes(';') ? `${type}; charset=${charset}` : type;
}
