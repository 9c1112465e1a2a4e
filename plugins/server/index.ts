import { definePlugin, middleware } from '#kernel';
import { identity } from '../auth/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { sendData } from '../http/library.ts';
import type { MetricSource } from '../metrics/contract.ts';
import { query } from '../query/contract.ts';
import { rateLimits } from '../rate-limit/contract.ts';
import { settings } from '../settings/contract.ts';
import { createConfiguredCheckReader, findUnknownNames } from './configured-checks.ts';
import { health as healthChecks, websocketTransports } from './contract.ts';
import { createServerGraphqlFields } from './graphql.ts';
import { createHealthCheckRunner, type HealthReportDeps } from './health.ts';
import { createHealthFallbackMiddleware, sendHealth } from './health-route.ts';
import { buildServerInfo, type InfoDeps } from './info.ts';
import { createHealthMetricSource } from './metric-source.ts';
import manifest from './package.json' with { type: 'json' };
import { pingMiddleware } from './ping.ts';
import { createRobotsRouteHandler } from './robots-route.ts';
import { createRootRouteHandler } from './root-route.ts';
import {
  HEALTH_ROUTE_DESCRIPTION,
  INFO_ROUTE_DESCRIPTION,
  ROBOTS_ROUTE_DESCRIPTION,
  ROOT_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';
import { serverServiceClass } from './service-class.ts';

interface Config {
  ROOT_REDIRECT: string;
  ROBOTS_TXT: string;
  HEALTHCHECK_ENABLED: boolean;
  HEALTHCHECK_SERVICES: readonly string[];
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config } = host;
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
      checks: createConfiguredCheckReader(config.HEALTHCHECK_SERVICES, () => host.read(healthChecks)),
      isStopping: () => isStopping,
    };

    host.events.onAction('server.start', () => {
      const names = findUnknownNames(config.HEALTHCHECK_SERVICES, host.read(healthChecks));
      if (names.length > 0) host.log.warn({ names }, 'HEALTHCHECK_SERVICES names checks that do not exist');
    });
    host.contribute<MetricSource>('metrics.sources', createHealthMetricSource(healthDeps));
    host.contribute(middleware, pingMiddleware);
    if (config.HEALTHCHECK_ENABLED) {
      host.contribute(middleware, createHealthFallbackMiddleware(used.identity, healthDeps));
      host.contribute(routes, {
        method: 'GET',
        path: '/server/health',
        description: HEALTH_ROUTE_DESCRIPTION,
        handle: (ctx) => sendHealth(ctx, ctx.state.caller.admin, healthDeps),
      });
    }
    host.contribute(routes, {
      method: 'GET',
      path: '/robots.txt',
      description: ROBOTS_ROUTE_DESCRIPTION,
      handle: createRobotsRouteHandler(config.ROBOTS_TXT),
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
      handle: createRootRouteHandler(config.ROOT_REDIRECT, config.HEALTHCHECK_ENABLED),
    });
    host.contribute<ServiceClass>('extensions.services', serverServiceClass({ ...infoDeps, health: healthDeps }));
    for (const field of createServerGraphqlFields({ ...infoDeps, health: healthDeps })) {
      if (config.HEALTHCHECK_ENABLED || !field.definition.startsWith('server_health'))
        host.contribute<ContributedGraphqlField>('graphql.fields', field);
    }
  },
});
