import { type ContributionTo, definePlugin, middleware } from '#kernel';
import type { health } from '../server/contract.ts';
import { createBodyReaders } from './body.ts';
import { createBodyMemoryHealthCheck, UnfinishedBodyMemoryBudget } from './body-memory.ts';
import { parsePolicyAdditions } from './content-security-policy.ts';
import {
  type HttpContext,
  internalRequests,
  requestObservers,
  reservedSegments,
  routeMounts,
  routes,
  routing,
} from './contract.ts';
import { createOutermostHttpMiddleware } from './edge-middleware.ts';
import { createRequestErrorFilterRunner } from './error-filters.ts';
import { createInternalRequests } from './internal-requests.ts';
import manifest from './package.json' with { type: 'json' };
import { createResponseAnnouncer } from './response-event.ts';
import { createRouteTables } from './route-tables.ts';
import { createRoutingService } from './routing-service.ts';
import {
  bodyMemoryLimitFromConfig,
  createRequestSettings,
  type HttpConfig,
  type SharedHttpConfig,
  unknownParametersModeFromConfig,
} from './settings.ts';
import { createUnknownParameterCheck, findUnknownParameterNames } from './unknown-parameters.ts';

const POLICY_SETTING = 'CONTENT_SECURITY_POLICY_DIRECTIVES__';

export default definePlugin<HttpConfig, SharedHttpConfig>({
  manifest,
  register(host) {
    const { config, log, events } = host;
    const memory = new UnfinishedBodyMemoryBudget(bodyMemoryLimitFromConfig(config));
    const mode = unknownParametersModeFromConfig(config);
    const parameters = createUnknownParameterCheck(mode, log);
    const policyAdditions = parsePolicyAdditions(manifest.name, POLICY_SETTING, config[`${POLICY_SETTING}*`]);
    const settings = createRequestSettings(config, { log, memory, parameters, policyAdditions });
    const { idleTimeout } = settings;
    const readers = createBodyReaders({ maxBytes: config.MAX_PAYLOAD_SIZE, idleTimeout, memory });
    /** Bodies that a layer before the router has read, and those of internal requests. */
    const bodiesRead = new WeakMap<object, Promise<unknown>>();

    host.define(routes);
    host.define(routeMounts);
    host.define(reservedSegments);
    host.define(requestObservers);
    const tables = createRouteTables(host);
    const { findRoute, findHeaderRoute } = tables;
    for (const name of manifest['service:extension'].contributes['http.reserved'].names)
      host.contribute(reservedSegments, name);
    host.provide(
      routing,
      createRoutingService({
        settings,
        bodies: bodiesRead,
        readers,
        routes: () => host.read(routes),
        mounts: () => host.read(routeMounts),
        reserved: () => host.read(reservedSegments),
        findHeaderRoute,
      }),
    );
    host.provide(internalRequests, createInternalRequests({ findRoute, bodies: bodiesRead }));
    host.contribute<ContributionTo<typeof health>>('health', createBodyMemoryHealthCheck(memory));
    host.contribute(
      middleware,
      createOutermostHttpMiddleware(
        config,
        settings,
        findRoute,
        createRequestErrorFilterRunner({ events, log }),
        createResponseAnnouncer({ events, log }),
        tables.observer,
      ),
    );
    host.contribute(middleware, {
      name: 'router',
      phase: 'route',
      async handle(ctx, next) {
        const match = findRoute(ctx.method, ctx.path);
        if (!match) return tables.mounts().handle(ctx as unknown as HttpContext, next);
        const context = ctx as unknown as HttpContext & { params: HttpContext['params'] };
        context.params = match.params;
        context.state.route = match.answering;
        const { querystring } = ctx;
        if (querystring !== '' && match.parameters && mode !== 'ignore')
          parameters.check(context, findUnknownParameterNames(querystring, match.parameters), match.parameters);
        if (match.route.method !== '*' && match.route.body !== 'unread')
          context.state.body = await (bodiesRead.get(ctx.req) ?? readers.readBody(ctx));
        const { observation } = context.state;
        if (!observation?.runRoute) return match.route.handle(context);
        await observation.runRoute(match.answering, async () => match.route.handle(context));
      },
    });
  },
});
