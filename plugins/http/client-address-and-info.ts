import { isIP } from 'node:net';
import type { Context } from 'koa';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { HttpContext } from './contract.ts';

/** The context of a route or of a middleware around it. */
type ClientRequest = Pick<HttpContext, 'req' | 'state'> | Pick<Context, 'req' | 'state'>;

/**
 * Address of the client; null once its connection is closed. The header of IP_CUSTOM_HEADER counts where it holds an address. Every proxy appends the address it received the request
 * from to X-Forwarded-For. With N trusted proxies the N-th entry from the end is true; the client may have invented all
 * before it.
 */
export function clientAddressOf(ctx: ClientRequest): string | null {
  const direct = ctx.req.socket.remoteAddress;
  const { proxies = 0, addressHeader } = (ctx.state as HttpContext['state']).settings ?? {};
  const custom = addressHeader === undefined ? undefined : ctx.req.headers[addressHeader];
  if (typeof custom === 'string' && isIP(custom.trim()) !== 0) return toPlainAddress(custom.trim());
  const forwarded = proxies > 0 ? ctx.req.headers['x-forwarded-for'] : undefined;
  const addresses = typeof forwarded === 'string' ? forwarded.split(',') : [];
  const address = addresses[Math.max(0, addresses.length - proxies)]?.trim() || direct;
  return address === undefined ? null : toPlainAddress(address);
}

/** Who holds the memory of a body: the client's network, since a host has many addresses of IPv6. */
export const bodyMemoryHolderOf = (ctx: ClientRequest): string => toClientNetworkKey(clientAddressOf(ctx));

/** An IPv4 address that the system shows as one of IPv6, as IPv4. */
const toPlainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

/** What the service knows of a client before it authenticates. */
export const clientInfoOf = (
  ctx: ClientRequest,
): { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null } => ({
  ip: clientAddressOf(ctx),
  userAgent: ctx.req.headers['user-agent'] ?? null,
  origin: ctx.req.headers.origin ?? null,
});
