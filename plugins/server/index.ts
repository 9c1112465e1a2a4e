import { definePlugin, middleware } from '#kernel';
import { identity } from '../auth/contract.ts';
import type { GraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { sendData } from '../http/library.ts';
import { query } from '../query/contract.ts';
import { settings } from '../settings/contract.ts';
import { health as healthChecks } from './contract.ts';
import { SERVER_HEALTH, SERVER_INFO, SERVER_ROOT } from './descriptions.ts';
import { createServerFields } from './graphql.ts';
import { createHealth, type HealthDeps } from './health.ts';
import { createHealthFallback, sendHealth } from './health-route.ts';
import { describeInfo } from './info.ts';
import manifest from './package.json' with { type: 'json' };
import { pingMiddleware } from './ping.ts';
import { createRootHandler } from './root.ts';

interface Config {
  ROOT_REDIRECT: string;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const used = host.use({ identity, query, settings });
    let isStopping = false;
    host.define(healthChecks);
    // The kernel emits `server.stop` before it stops accepting connections: from then on the health is `error`.
    host.events.onAction('server.stop', () => {
      isStopping = true;
    });
    const healthDeps: HealthDeps = {
      measure: createHealth(),
      checks: () => host.read(healthChecks),
      isStopping: () => isStopping,
    };

    host.contribute(middleware, pingMiddleware);
    host.contribute(middleware, createHealthFallback(used.identity, healthDeps));
    host.contribute(routes, {
      method: 'GET',
      path: '/server/health',
      description: SERVER_HEALTH,
      handle: (ctx) => sendHealth(ctx, ctx.state.caller.admin, healthDeps),
    });
    host.contribute(routes, {
      method: 'GET',
      path: '/server/info',
      description: SERVER_INFO,
      handle: async (ctx) => sendData(ctx, await describeInfo(ctx.state.caller, used)),
    });
    host.contribute(routes, {
      method: 'GET',
      path: '/',
      description: SERVER_ROOT,
      handle: createRootHandler(host.config.ROOT_REDIRECT),
    });
    for (const field of createServerFields({ ...used, health: healthDeps }))
      host.contribute<GraphqlField>('graphql.fields', field);
  },
});
