import { ClientGone, errorEnvelope, type Middleware, type RequestScope, requestScope } from '#kernel';
import { hasBody } from './body.ts';
import { clientAddressOf } from './client-address-and-info.ts';
import { ClientRequestScope } from './client-disconnect-signal.ts';
import type { HttpContext } from './contract.ts';
import { createCors } from './cors.ts';
import type { RunErrorFilters } from './error-filters.ts';
import { createIgnoredPathCheck } from './ignored-paths.ts';
import { enableLingeringClose, setConnectionCloseUnlessRead } from './lingering-close.ts';
import { logRequest } from './request-log.ts';
import type { ResponseAnnouncer } from './response-event.ts';
import { answerNotModified, createDefaultHeaders } from './response-headers.ts';
import type { FindRoute } from './router.ts';
import type { HttpConfig, RequestSettings } from './settings.ts';
import { StreamedResponse } from './streamed-response.ts';

/** Status in the log for a client that disconnected before its response, as nginx has it. */
const CLIENT_GONE = 499;

/** The outermost middleware: default headers, CORS, 304 for unchanged content, error filters and the log line. */
export function createOutermostHttpMiddleware(
  config: HttpConfig,
  settings: RequestSettings,
  findRoute: FindRoute,
  runErrorFilters: RunErrorFilters,
  responses: ResponseAnnouncer,
): Middleware {
  const { log } = settings;
  const headers = createDefaultHeaders(config, settings);
  const isIgnored = createIgnoredPathCheck(config.LOG_HTTP_IGNORE_PATHS);
  const cors = createCors(config, findRoute);
  return {
    name: 'edge',
    phase: 'edge',
    async handle(ctx, next) {
      const started = performance.now();
      (ctx.state as HttpContext['state']).settings = settings;
      for (const [name, value] of headers) ctx.res.setHeader(name, value);
      if (hasBody(ctx)) enableLingeringClose(ctx);
      const isLogged = log.isLevelEnabled('info') && !isIgnored?.(ctx.path);
      // A closed connection has no address any more.
      const hasListeners = responses.hasListeners();
      const ip = isLogged || hasListeners ? clientAddressOf(ctx) : null;
      let status = 500;
      try {
        if (!cors(ctx)) {
          const scope = requestScope.getStore() as RequestScope;
          await requestScope.run(new ClientRequestScope(scope, ctx), next);
          answerNotModified(ctx);
        }
        status = ctx.status;
      } catch (caught) {
        const error = caught instanceof ClientGone ? caught : await runErrorFilters(ctx, caught);
        status = ctx.res.closed
          ? CLIENT_GONE
          : error === undefined
            ? ctx.status
            : errorEnvelope(error, { admin: false }).status;
        if (error !== undefined) throw error;
      } finally {
        setConnectionCloseUnlessRead(ctx, status);
        if (hasListeners) responses.announce(ctx as unknown as HttpContext, ip, started);
        if (isLogged) {
          const { method, originalUrl: url } = ctx;
          const { user } = (ctx.state as HttpContext['state']).caller;
          const write = () => logRequest(log, { method, url, status, ip, user, started });
          // A streamed response is logged when it ends.
          if (ctx.body instanceof StreamedResponse) ctx.res.once('close', write);
          else write();
        }
      }
    },
  };
}
