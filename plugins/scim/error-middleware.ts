import { ClientGone, Failure, type Log, type Middleware } from '#kernel';
import { toScimErrorAnswer } from './scim-error.ts';
import { createUnavailableLog } from './unavailable-log.ts';

export const SCIM_PATH = '/scim/v2';
export const SCIM_MEDIA_TYPE = 'application/scim+json';

const isScimPath = (path: string): boolean => path === SCIM_PATH || path.startsWith(`${SCIM_PATH}/`);

/** Answers errors of all requests below /scim/v2 in the form of SCIM, those of other layers and of unknown routes included. */
export function createScimErrorMiddleware(log: Log): Middleware {
  const logUnavailable = createUnavailableLog(log);
  return {
    name: 'scim-errors',
    phase: 'edge',
    async handle(ctx, next) {
      if (!isScimPath(ctx.path)) return next();
      try {
        await next();
      } catch (error) {
        if (error instanceof ClientGone) throw error;
        const { status, body } = toScimErrorAnswer(error);
        if (status === 503) logUnavailable(error);
        else if (status >= 500) log.error({ err: error, status }, 'a SCIM request failed');
        const { allow, retryAfter } = error instanceof Failure ? error.extensions : {};
        ctx.status = status;
        ctx.body = JSON.stringify(body);
        ctx.set('Content-Type', SCIM_MEDIA_TYPE);
        if (status === 401) ctx.set('WWW-Authenticate', 'Bearer');
        if (status === 405 && Array.isArray(allow)) ctx.set('Allow', allow.join(', '));
        if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
      }
    },
  };
}
