import { Failure, type Middleware } from '#kernel';
import type { CallerProvider } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { describeHealth, type HealthReportDeps } from './health.ts';

const PATH = '/server/health';

/** Sends the health of the service: with checks to admins, the status only to all other callers. */
export async function sendHealth(ctx: HttpContext, admin: boolean, deps: HealthReportDeps): Promise<void> {
  const shown = await describeHealth({ admin }, deps);
  ctx.status = shown.status === 'error' ? 503 : 200;
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'application/health+json; charset=utf-8';
  ctx.body = JSON.stringify(shown);
}

/** Creates the middleware that answers the health also while the database is down, when no caller can be identified. */
export const createHealthFallbackMiddleware = (
  identity: Pick<CallerProvider, 'isSignedAdmin'>,
  deps: HealthReportDeps,
): Middleware => ({
  name: 'health',
  phase: 'edge',
  async handle(ctx, next) {
    if (ctx.path !== PATH || ctx.method !== 'GET') return next();
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      const context = ctx as unknown as HttpContext;
      await sendHealth(context, identity.isSignedAdmin(context), deps);
    }
  },
});
