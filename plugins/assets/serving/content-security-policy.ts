/** MIME types whose documents can run scripts, or imitate pages of the service, when a browser opens their URL. */
const ACTIVE = /html|\bxml|xsl|svg|(?:java|ecma|live|vb|\bj)script|flash|^multipart\/|^message\//;

/**
 * Content-Security-Policy of such types: no scripts, no requests, no forms; the document has an opaque origin without cookies and
 * storage.
 */
const SANDBOXED =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

/**
 * Content-Security-Policy of all other types: no scripts either, but what the viewers of browsers need. Without `sandbox`, in
 * which PDF viewers do not work.
 */
const EMBEDDABLE =
  "default-src 'none'; img-src 'self' data:; media-src 'self' data:; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * The Content-Security-Policy of an object with these types, declared and detected: one active type is enough for the sandbox.
 */
export const contentSecurityPolicyFor = (...types: readonly (string | null)[]): string =>
  types.some((type) => type !== null && ACTIVE.test(toEssence(type))) ? SANDBOXED : EMBEDDABLE;

const toEssence = (type: string): string => (type.split(';', 1)[0] as string).trim().toLowerCase();

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))*$`);

const CHARSET = /^[\w.:+-]{1,50}$/;

/** Content-Type for a response. Types come from rows that users write: an invalid one becomes application/octet-stream. */
export function toContentType(type: string | null, charset: string | null): string {
  if (type === null || !TYPE.test(type)) return 'application/octet-stream';
  return charset !== null && CHARSET.test(charset) && !type.includes(';') ? `${type}; charset=${charset}` : type;
}
