import type { IncomingHttpHeaders } from 'node:http';

/** The HTTP validators of the current bytes. */
export interface HttpValidators {
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Milliseconds, in whole seconds as in the header; undefined if unknown. */
  readonly modified: number | undefined;
}

/**
 * Whether the request is answered with 304, because the client has these bytes already. The ETag wins over the date (RFC 9110,
 * 13.2.2).
 */
export function isNotModified(headers: IncomingHttpHeaders, { etag, modified }: HttpValidators): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return tags.trim() === '*' || Boolean(tags.match(/"[^"]*"/g)?.some((tag) => tag === etag));
  const since = headers['if-modified-since'];
  return since !== undefined && modified !== undefined && modified <= Date.parse(since);
}

/** Whether `If-Range` matches: the parts that the client has belong to the same bytes. */
export function matchesIfRangeHeader(
  { 'if-range': condition }: IncomingHttpHeaders,
  { etag, modified }: HttpValidators,
): boolean {
  if (typeof condition !== 'string') return true;
  return condition.includes('"') ? condition.trim() === etag : modified === Date.parse(condition);
}
