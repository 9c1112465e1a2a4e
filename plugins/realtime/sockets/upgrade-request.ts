import type { IncomingMessage } from 'node:http';

/** The parameter `access_token`; undefined without one, and where it is empty. */
export function queryTokenOf({ url = '' }: IncomingMessage): string | undefined {
  const at = url.indexOf('?');
  return (at === -1 ? null : new URLSearchParams(url.slice(at)).get('access_token')) || undefined;
}

/** The sub-protocols that the client offers. */
export const offeredProtocols = ({ headers }: IncomingMessage): ReadonlySet<string> =>
  new Set(headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()));

/** Whether the request brings what may be a credential. */
export const hasCredential = (request: IncomingMessage): boolean =>
  queryTokenOf(request) !== undefined || request.headers.cookie !== undefined;
