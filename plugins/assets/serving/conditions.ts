import type { IncomingHttpHeaders } from 'node:http';

/** What tells one state of the bytes from another. */
export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Milliseconds, in whole seconds as the header has it; undefined where nobody knows. */
  readonly modified: number | undefined;
}

/** Does the client have these very bytes already? The tag wins over the date (RFC 9110, 13.2.2). */
export function isUnchanged(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return tags.trim() === '*' || Boolean(tags.match(/"[^"]*"/g)?.some((tag) => tag === etag));
  const since = headers['if-modified-since'];
  return since !== undefined && modified !== undefined && modified <= Date.parse(since);
}

/** May a part be sent, or has the client parts of other bytes, so that it needs the whole? */
export function rangeHolds({ 'if-range': condition }: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  if (typeof condition !== 'string') return true;
  return condition.includes('"') ? condition.trim() === etag : modified === Date.parse(condition);
}
