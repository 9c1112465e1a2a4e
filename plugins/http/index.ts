import { type ContributionTo, definePlugin, middleware } from '#kernel';
import type { health } from '../server/contract.ts';
import { createBodyReaders } from './body.ts';
import { createBodyMemoryHealthCheck, UnfinishedBodyMemoryBudget } from './body-memory.ts';
import { parsePolicyAdditions } from './content-security-policy.ts';
import {
  type HttpContext,
  internalRequests,
  type RequestObserver,
  requestObservers,
  reservedSegments,
  routeMounts,
  routes,
  routing,
} from './contract.ts';
import { createOutermostHttpMiddleware } from './edge-middleware.ts';
import { createRequestErrorFilterRunner } from './error-filters.ts';
import { createInternalRequests } from './internal-requests.ts';
import { RouteMountTable } from './mount-table.ts';
import manifest from './package.json' with { type: 'json' };
import { createResponseAnnouncer } from './response-event.ts';
import { createRouteFinder, type FindRoute } from './router.ts';
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
    let findRoute: FindRoute = () => undefined;
    let findHeaderRoute: FindRoute = () => undefined;
    let mountTable = new RouteMountTable([]);
    let observer: RequestObserver | undefined;

    host.define(routes);
    host.define(routeMounts);
    host.define(reservedSegments);
    host.define(requestObservers);
    for (const name of manifest['service:extension'].contributes['http.reserved'].names)
      host.contribute(reservedSegments, name);
    host.provide(
      routing,
      createRoutingService({
        bodies: bodiesRead,
        readers,
        routes: () => host.read(routes),
        mounts: () => host.read(routeMounts),
        reserved: () => host.read(reservedSegments),
        findHeaderRoute: (method, path) => findHeaderRoute(method, path),
      }),
    );
    host.provide(
      internalRequests,
      createInternalRequests({ findRoute: (method, path) => findRoute(method, path), bodies: bodiesRead }),
    );
    host.contribute<ContributionTo<typeof health>>('health', createBodyMemoryHealthCheck(memory));
    host.contribute(
      middleware,
      createOutermostHttpMiddleware(
        config,
        settings,
        (method, path) => findRoute(method, path),
        createRequestErrorFilterRunner({ events, log }),
        createResponseAnnouncer({ events, log }),
        () => observer,
      ),
    );
    host.contribute(middleware, {
      name: 'router',
      phase: 'route',
      async handle(ctx, next) {
        const match = findRoute(ctx.method, ctx.path);
        if (!match) return mountTable.handle(ctx as unknown as HttpContext, next);
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
    // The router and the mounts are built at the start, when every plugin has contributed its routes. A change replaces
    // both as a whole, so a request sees the routes of before or after the change.
    host.onStart(() => {
      const updateRoutes = () => {
        const owners = new Map(host.read(routes).map(({ owner, value }) => [value, owner]));
        const all = [...owners.keys()];
        findRoute = createRouteFinder(all, (route) => owners.get(route));
        findHeaderRoute = createRouteFinder(all.filter(({ dependsOnHeaders }) => dependsOnHeaders));
      };
      const updateMounts = () => {
        mountTable = new RouteMountTable(host.read(routeMounts));
      };
      const updateObserver = () => {
        observer = host.read(requestObservers);
      };
      updateRoutes();
      updateMounts();
      updateObserver();
      host.watch(routes, updateRoutes);
      host.watch(routeMounts, updateMounts);
      host.watch(requestObservers, updateObserver);
    });
  },
});
