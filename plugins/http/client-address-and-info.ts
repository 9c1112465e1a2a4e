import type { Context } from 'koa';
import type { HttpContext } from './contract.ts';

/** The context of a route or of a middleware around it. */
type ClientRequest = Pick<HttpContext, 'req' | 'state'> | Pick<Context, 'req' | 'state'>;

/**
 * Address of the client; null once its connection is closed. Every proxy appends the address it received the request
 * from to X-Forwarded-For. With N trusted proxies the N-th entry from the end is true; the client may have invented all
 * before it.
 */
export function clientAddressOf(ctx: ClientRequest): string | null {
  const direct = ctx.req.socket.remoteAddress;
  const proxies = (ctx.state as HttpContext['state']).settings?.proxies ?? 0;
  const forwarded = proxies > 0 ? ctx.req.headers['x-forwarded-for'] : undefined;
  const addresses = typeof forwarded === 'string' ? forwarded.split(',') : [];
  const address = addresses[Math.max(0, addresses.length - proxies)]?.trim() || direct;
  return address?.replace(/^::ffff:(?=\d+\.)/, '') ?? null;
}

/** What the service knows of a client before it authenticates. */
export const clientInfoOf = (
  ctx: ClientRequest,
): { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null } => ({
  ip: clientAddressOf(ctx),
  userAgent: ctx.req.headers['user-agent'] ?? null,
  origin: ctx.req.headers.origin ?? null,
});
