import { ClientGone, envelope, type Log, type Middleware, type RequestScope, requestScope } from '#kernel';
import { hasBody } from './body.ts';
import { ClientScope } from './client-scope.ts';
import type { HttpContext } from './contract.ts';
import { createCors } from './cors.ts';
import type { TellError } from './error-events.ts';
import { lingering } from './lingering.ts';
import { logRequest } from './request-log.ts';
import { answerUnchanged, standingHeaders } from './response-headers.ts';
import type { FindRoute } from './router.ts';
import { type HttpConfig, requestSettings } from './settings.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** What the log shows where there was nobody left to answer. */
const CLIENT_GONE = 499;

/** The outermost layer: headers of every answer, CORS, unchanged answers, the line in the log. */
export function edge(config: HttpConfig, log: Log, findRoute: FindRoute, tellError: TellError): Middleware {
  const settings = requestSettings(config, log);
  const headers = standingHeaders(config);
  const cors = createCors(config, findRoute);
  return {
    name: 'edge',
    phase: 'edge',
    async handle(ctx, next) {
      const started = performance.now();
      (ctx.state as HttpContext['state']).settings = settings;
      for (const [name, value] of headers) ctx.res.setHeader(name, value);
      if (hasBody(ctx)) lingering(ctx);
      let status = 500;
      try {
        if (!cors(ctx)) {
          const scope = requestScope.getStore() as RequestScope;
          await requestScope.run(new ClientScope(scope, ctx), next);
          answerUnchanged(ctx);
        }
        status = ctx.status;
      } catch (thrown) {
        const error = thrown instanceof ClientGone ? thrown : await tellError(ctx, thrown);
        status = ctx.res.closed
          ? CLIENT_GONE
          : error === undefined
            ? ctx.status
            : envelope(error, { admin: false }).status;
        if (error !== undefined) throw error;
      } finally {
        const write = () => logRequest(log, ctx.method, ctx.originalUrl, status, started);
        // An answer that is still being made has its line when it is over.
        if (ctx.body instanceof StreamedAnswer) ctx.res.once('close', write);
        else write();
      }
    },
  };
}
