import type { Context } from 'koa';
import type { HttpContext } from './contract.ts';

/** A request in a route or in a layer around it. */
type ClientRequest = Pick<HttpContext, 'req' | 'state'> | Pick<Context, 'req' | 'state'>;

/**
 * Address of the client. Every proxy appends whom it heard from, so with N proxies in front the N-th entry from the end
 * is true and all before it are the client's own claims.
 */
export function addressOf(ctx: ClientRequest): string | null {
  const direct = ctx.req.socket.remoteAddress;
  const proxies = (ctx.state as HttpContext['state']).settings?.proxies ?? 0;
  const forwarded = proxies > 0 ? ctx.req.headers['x-forwarded-for'] : undefined;
  const addresses = typeof forwarded === 'string' ? forwarded.split(',') : [];
  const address = addresses[Math.max(0, addresses.length - proxies)]?.trim() || direct;
  return address?.replace(/^::ffff:(?=\d+\.)/, '') ?? null;
}

/** What is known about a client before it says who it is. */
export const clientOf = (
  ctx: ClientRequest,
): { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null } => ({
  ip: addressOf(ctx),
  userAgent: ctx.req.headers['user-agent'] ?? null,
  origin: ctx.req.headers.origin ?? null,
});
