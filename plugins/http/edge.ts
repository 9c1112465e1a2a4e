import { envelope, type Log, type Middleware } from '#kernel';
import type { HttpContext } from './contract.ts';
import { createCors } from './cors.ts';
import { logRequest } from './request-log.ts';
import { answerUnchanged, standingHeaders } from './response-headers.ts';
import { type HttpConfig, requestSettings } from './settings.ts';

/** The outermost layer: headers of every answer, CORS, unchanged answers, the line in the log. */
export function edge(config: HttpConfig, log: Log): Middleware {
  const settings = requestSettings(config);
  const headers = standingHeaders(config);
  const cors = createCors(config);
  return {
    name: 'edge',
    phase: 'edge',
    async handle(ctx, next) {
      const started = performance.now();
      (ctx.state as HttpContext['state']).settings = settings;
      for (const [name, value] of headers) ctx.res.setHeader(name, value);
      let status = 500;
      try {
        if (!cors(ctx)) {
          await next();
          answerUnchanged(ctx);
        }
        status = ctx.status;
      } catch (error) {
        status = envelope(error, { admin: false }).status;
        throw error;
      } finally {
        logRequest(log, ctx.method, ctx.originalUrl, status, started);
      }
    },
  };
}
