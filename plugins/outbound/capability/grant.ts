import { type Capability, fail } from '#kernel';

export const OUTBOUND_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;
export type OutboundMethod = (typeof OUTBOUND_METHODS)[number];

/** The grant in a manifest: exactly one of `urls` and `origins` (conventions, "Capabilities"). */
export interface OutboundRequestGrant {
  readonly urls?: readonly string[];
  readonly origins?: readonly string[];
  readonly methods?: readonly OutboundMethod[];
}

/**
 * Scheme, host and port only. No wildcard, since origins are compared literally; no trailing dot, since such a host
 * never matches; no user, path, query or fragment.
 */
const ORIGIN =
  '^[hH][tT][tT][pP][sS]?://(?:\\[[0-9A-Fa-f:.]{2,45}\\]|[^\\s/?#@:%*<>^|\\[\\]\\\\\\u0000-\\u0020\\u007f]{0,253}[^\\s/?#@:%*<>^|\\[\\]\\\\.\\u0000-\\u0020\\u007f])(?::[0-9]{1,5})?/?$';

const origin = {
  type: 'string',
  pattern: ORIGIN,
  description: 'an origin such as https://api.example.com, without a path',
} as const;
const origins = { type: 'array', minItems: 1, items: origin } as const;

export const outboundRequestGrantSchema: Capability['schema'] = {
  type: 'object',
  description: 'an object with a list of "origins" (or "urls", which is the same)',
  additionalProperties: false,
  properties: {
    urls: origins,
    origins,
    methods: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: OUTBOUND_METHODS } },
  },
  oneOf: [{ required: ['origins'] }, { required: ['urls'] }],
};

/** The canonical form of an origin: lower case, without the default port; undefined for any other text. */
export function toCanonicalOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !new RegExp(ORIGIN).test(text) || url.hostname.endsWith('.')) return undefined;
  return url.origin;
}

export interface AllowedOriginsAndMethods {
  readonly origins: ReadonlySet<string>;
  readonly methods: ReadonlySet<string>;
}

/**
 * Parses a grant. Throws CAPABILITY_DENIED for a text that matches the pattern and is no origin, such as one with port
 * 99999.
 */
export function parseOutboundRequestGrant(grant: OutboundRequestGrant): AllowedOriginsAndMethods {
  const origins = listOrigins(grant).map((text) => {
    const origin = toCanonicalOrigin(text);
    if (origin === undefined) throw fail('CAPABILITY_DENIED', `"${text.slice(0, 100)}" is not an origin`);
    return origin;
  });
  return { origins: new Set(origins), methods: new Set(grant.methods ?? ['GET']) };
}

/** The canonical origins of a grant, for the audit. An invalid origin is shown as written. */
export const listGrantedOrigins = (grant: OutboundRequestGrant): readonly string[] =>
  [...new Set(listOrigins(grant).map((text) => toCanonicalOrigin(text) ?? text))].sort();

const listOrigins = ({ origins, urls }: OutboundRequestGrant): readonly string[] => origins ?? urls ?? [];
