import type { HttpContext } from '../http/contract.ts';

/** Redirects a browser; the address of this page, which may have a code in it, is told to no other site. */
export function sendRedirect(ctx: HttpContext, location: URL): void {
  ctx.status = 302;
  ctx.set({ Location: location.href, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.body = null;
  ctx.status = 302;
}
