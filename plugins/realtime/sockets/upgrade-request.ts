import type { IncomingMessage } from 'node:http';
import type { HttpContext } from '../../http/contract.ts';

/** The request of an upgrade in the form in which other plugins look at requests: for addresses and cookies. */
export const toHttpContext = (request: IncomingMessage, proxies: number): HttpContext =>
  ({
    req: request,
    method: request.method,
    path: request.url,
    state: { settings: { proxies } },
  }) as unknown as HttpContext;

/** The parameter `access_token`; undefined without one. */
export function queryTokenOf({ url = '' }: IncomingMessage): string | undefined {
  const at = url.indexOf('?');
  return (at === -1 ? null : new URLSearchParams(url.slice(at)).get('access_token')) ?? undefined;
}

/** The sub-protocols that the client offers. */
export const offeredProtocols = ({ headers }: IncomingMessage): ReadonlySet<string> =>
  new Set(headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()));
