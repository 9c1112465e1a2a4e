/** Headers of the transport, which only the service sets (conventions, "request.send"). */
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
  // `expect` would make the request wait, and `accept-encoding` would compress the response.
  'expect',
  'accept-encoding',
]);
const RESERVED_PREFIXES = ['x-forwarded-', 'proxy-'];

export const isReservedHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
};

export const isHeaderName = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name);

/** True for a text without line breaks and other characters that a header cannot have. */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

/** Picks the headers that may be forwarded, with names in lower case. Invalid and reserved headers are left out. */
export function pickForwardableHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && isHeaderName(name) && isHeaderValue(value) && !isReservedHeader(name)
        ? [[name.toLowerCase(), value]]
        : [],
    ),
  );
}
