import { definePlugin, middleware } from '#kernel';
import { identity } from '../auth/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { sendData } from '../http/library.ts';
import { query } from '../query/contract.ts';
import { rateLimits } from '../rate-limit/contract.ts';
import { settings } from '../settings/contract.ts';
import { health as healthChecks, websocketTransports } from './contract.ts';
import { createServerGraphqlFields } from './graphql.ts';
import { createHealthCheckRunner, type HealthReportDeps } from './health.ts';
import { createHealthFallbackMiddleware, sendHealth } from './health-route.ts';
import { buildServerInfo, type InfoDeps } from './info.ts';
import manifest from './package.json' with { type: 'json' };
import { pingMiddleware } from './ping.ts';
import { createRootRouteHandler } from './root-route.ts';
import { HEALTH_ROUTE_DESCRIPTION, INFO_ROUTE_DESCRIPTION, ROOT_ROUTE_DESCRIPTION } from './route-descriptions.ts';
import { serverServiceClass } from './service-class.ts';

interface Config {
  ROOT_REDIRECT: string;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const used = host.use({ identity, query, rateLimits, settings });
    let isStopping = false;
    host.define(healthChecks);
    host.define(websocketTransports);
    const infoDeps: InfoDeps = { ...used, websocket: () => host.read(websocketTransports) };
    // The kernel emits `server.stop` before it stops accepting connections: from then on the health is `error`.
    host.events.onAction('server.stop', () => {
      isStopping = true;
    });
    const healthDeps: HealthReportDeps = {
      measure: createHealthCheckRunner(),
      checks: () => host.read(healthChecks),
      isStopping: () => isStopping,
    };

    host.contribute(middleware, pingMiddleware);
    host.contribute(middleware, createHealthFallbackMiddleware(used.identity, healthDeps));
    host.contribute(routes, {
      method: 'GET',
      path: '/server/health',
      description: HEALTH_ROUTE_DESCRIPTION,
      handle: (ctx) => sendHealth(ctx, ctx.state.caller.admin, healthDeps),
    });
    host.contribute(routes, {
      method: 'GET',
      path: '/server/info',
      description: INFO_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await buildServerInfo(ctx.state.caller, infoDeps)),
    });
    host.contribute(routes, {
      method: 'GET',
      path: '/',
      description: ROOT_ROUTE_DESCRIPTION,
      handle: createRootRouteHandler(host.config.ROOT_REDIRECT),
    });
    host.contribute<ServiceClass>('extensions.services', serverServiceClass({ ...infoDeps, health: healthDeps }));
    for (const field of createServerGraphqlFields({ ...infoDeps, health: healthDeps }))
      host.contribute<ContributedGraphqlField>('graphql.fields', field);
  },
});
