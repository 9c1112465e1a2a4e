import type { ServerResponse } from 'node:http';
import { ClientGone, errorEnvelope, type Middleware, type RequestScope, requestScope } from '#kernel';
import { hasBody } from './body.ts';
import { clientAddressOf } from './client-address-and-info.ts';
import { ClientRequestScope } from './client-disconnect-signal.ts';
import type { AnsweringRoute, HttpContext, RequestObserver } from './contract.ts';
import { createCors } from './cors.ts';
import type { RunErrorFilters } from './error-filters.ts';
import { createIgnoredPathCheck } from './ignored-paths.ts';
import { enableLingeringClose, setConnectionCloseUnlessRead } from './lingering-close.ts';
import { createRequestLog } from './request-log.ts';
import type { ResponseAnnouncer } from './response-event.ts';
import { answerNotModified, createDefaultHeaders } from './response-headers.ts';
import type { FindRoute } from './router.ts';
import type { HttpConfig, RequestSettings } from './settings.ts';
import { StreamedResponse } from './streamed-response.ts';

/** Status in the log for a client that disconnected before its response, as nginx has it. */
const CLIENT_GONE = 499;

/** Whether the client has disconnected before the end of its response. A mount may have sent a whole one itself. */
const hasLeft = ({ closed, writableFinished }: ServerResponse): boolean => closed && !writableFinished;

/** The outermost middleware: default headers, CORS, 304 for unchanged content, error filters and the log line. */
export function createOutermostHttpMiddleware(
  config: HttpConfig,
  settings: RequestSettings,
  findRoute: FindRoute,
  runErrorFilters: RunErrorFilters,
  responses: ResponseAnnouncer,
  observer: () => RequestObserver | undefined,
): Middleware {
  const { log } = settings;
  const headers = createDefaultHeaders(config, settings);
  const isIgnored = createIgnoredPathCheck(config.LOG_HTTP_IGNORE_PATHS);
  const cors = createCors(config, findRoute);
  const logRequest = createRequestLog(log, config.LOG_HTTP_SAMPLE_RATE);

  /** A request that a layer before the router has answered has a route as well. */
  const routeOf = (ctx: HttpContext): AnsweringRoute | undefined => {
    if (ctx.state.route) return ctx.state.route;
    try {
      return findRoute(ctx.method, ctx.path)?.answering;
    } catch {
      return undefined;
    }
  };

  return {
    name: 'edge',
    phase: 'edge',
    async handle(ctx, next) {
      const started = performance.now();
      const state = ctx.state as HttpContext['state'];
      state.settings = settings;
      for (const [name, value] of headers) ctx.res.setHeader(name, value);
      if (hasBody(ctx)) enableLingeringClose(ctx);
      const isLogged = log.isLevelEnabled('info') && !isIgnored?.(ctx.path);
      // A closed connection has no address any more.
      const hasListeners = responses.hasListeners();
      const ip = isLogged || hasListeners ? clientAddressOf(ctx) : null;
      const scope = requestScope.getStore() as RequestScope;
      const observation = observer()?.begin(ctx);
      if (observation) {
        state.observation = observation;
        scope.trace = observation.trace;
      }
      let status = 500;
      try {
        if (!cors(ctx)) {
          const layers = observation?.run ? () => observation.run?.(next) as Promise<void> : next;
          await requestScope.run(new ClientRequestScope(scope, ctx), layers);
          answerNotModified(ctx);
        }
        status = hasLeft(ctx.res) ? CLIENT_GONE : ctx.status;
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
        if (isLogged || observation) {
          const { method, originalUrl: url } = ctx;
          const route = routeOf(ctx as unknown as HttpContext);
          const write = () => {
            const duration = performance.now() - started;
            const end = { method, status, route, duration, user: state.caller.user };
            observation?.end(end);
            if (isLogged) logRequest({ ...end, url, ip });
          };
          // A streamed response is logged when it ends, in the context of its request. One that is closed already emits nothing more.
          if (ctx.body instanceof StreamedResponse && !ctx.res.closed)
            ctx.res.once('close', () => requestScope.run(scope, write));
          else write();
        }
      }
    },
  };
}
