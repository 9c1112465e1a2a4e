/** Say how a message is carried, or for whom: nobody but this side sets them (conventions, "request.send"). */
const RESERVED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'forwarded',
  // A request would wait for a word of the other side, and an answer would come compressed.
  'expect',
  'accept-encoding',
]);
const RESERVED_PREFIXES = ['x-forwarded-', 'proxy-'];

export const isReservedHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
};

export const isHeaderName = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name);

/** Without line breaks and other characters that a header cannot carry. */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

/** What may be sent on of headers that others made, with names in lower case; the rest is left out. */
export function pickForwardableHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && isHeaderName(name) && isHeaderValue(value) && !isReservedHeader(name)
        ? [[name.toLowerCase(), value]]
        : [],
    ),
  );
}
