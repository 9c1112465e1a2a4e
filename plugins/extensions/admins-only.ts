import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';

/** Refuses a route of extensions to everyone but admins. */
export const adminsOnly =
  (handle: (ctx: HttpContext) => Promise<void> | void) =>
  (ctx: HttpContext): Promise<void> | void => {
    if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'extensions are for admins only');
    return handle(ctx);
  };
