import type { HttpContext } from '../http/contract.ts';

/** Redirects a browser, which sends the address of this page, with a code in it perhaps, to no other site. */
export function sendRedirect(ctx: HttpContext, location: URL): void {
  ctx.status = 302;
  ctx.set({ Location: location.href, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.body = null;
  ctx.status = 302;
}
