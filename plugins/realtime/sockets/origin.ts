import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a page of this origin may connect. Browsers do not apply CORS to sockets, so the service has to: the service's own host, and the
 * origins of CORS_ORIGIN. Clients that are no browsers send no origin.
 */
export function isOriginAllowed(headers: IncomingHttpHeaders, allowed: ReadonlySet<string> | true): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed === true || allowed.has(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
