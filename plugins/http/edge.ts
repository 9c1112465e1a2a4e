import { ClientGone, envelope, type Middleware, type RequestScope, requestScope } from '#kernel';
import { hasBody } from './body.ts';
import { addressOf } from './client.ts';
import { ClientScope } from './client-scope.ts';
import type { HttpContext } from './contract.ts';
import { createCors } from './cors.ts';
import type { TellError } from './error-events.ts';
import { closeUnlessComplete, lingering } from './lingering.ts';
import { logRequest } from './request-log.ts';
import { answerUnchanged, standingHeaders } from './response-headers.ts';
import type { FindRoute } from './router.ts';
import type { HttpConfig, RequestSettings } from './settings.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** What the log shows where there was nobody left to answer. */
const CLIENT_GONE = 499;

/** The outermost layer: headers of every answer, CORS, unchanged answers, the line in the log. */
export function edge(
  config: HttpConfig,
  settings: RequestSettings,
  findRoute: FindRoute,
  tellError: TellError,
): Middleware {
  const { log } = settings;
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
      const isLogged = log.isLevelEnabled('info');
      // A connection that is closed has no address any more.
      const ip = isLogged ? addressOf(ctx) : null;
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
        closeUnlessComplete(ctx, status);
        if (isLogged) {
          const { method, originalUrl: url } = ctx;
          const { user } = (ctx.state as HttpContext['state']).caller;
          const write = () => logRequest(log, { method, url, status, ip, user, started });
          // An answer that is still being made has its line when it is over.
          if (ctx.body instanceof StreamedAnswer) ctx.res.once('close', write);
          else write();
        }
      }
    },
  };
}
