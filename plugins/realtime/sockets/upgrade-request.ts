import type { IncomingMessage } from 'node:http';
import type { AuthClientInfo } from '../../auth/contract.ts';
import type { HttpContext } from '../../http/contract.ts';

/** The request of an upgrade in the form in which other plugins look at requests: for addresses and cookies. */
export const toHttpContext = (request: IncomingMessage, proxies: number): HttpContext =>
  ({
    req: request,
    method: request.method,
    path: request.url,
    state: { settings: { proxies } },
  }) as unknown as HttpContext;

/** What is known of the client of an upgrade: its address (behind trusted proxies the real one), user agent and origin. */
export function clientInfoOfUpgrade({ socket, headers }: IncomingMessage, proxies: number): AuthClientInfo {
  const forwarded = proxies > 0 ? headers['x-forwarded-for'] : undefined;
  // Each proxy appends the address that it got the request from; the client may have invented those before.
  const addresses = typeof forwarded === 'string' ? forwarded.split(',') : [];
  const address = addresses[Math.max(0, addresses.length - proxies)]?.trim() || socket.remoteAddress;
  const ip = address?.replace(/^::ffff:(?=\d+\.)/, '') ?? null;
  return { ip, userAgent: headers['user-agent'] ?? null, origin: headers.origin ?? null };
}

/** The parameter `access_token`; undefined without one. */
export function queryTokenOf({ url = '' }: IncomingMessage): string | undefined {
  const at = url.indexOf('?');
  return (at === -1 ? null : new URLSearchParams(url.slice(at)).get('access_token')) ?? undefined;
}

/** The sub-protocols that the client offers. */
export const offeredProtocols = ({ headers }: IncomingMessage): ReadonlySet<string> =>
  new Set(headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()));
