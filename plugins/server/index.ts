import { definePlugin, middleware } from '#kernel';
import type { GraphqlField } from '../graphql/contract.ts';
import { type HttpContext, routes } from '../http/contract.ts';
import { sendData } from '../http/library.ts';
import { query } from '../query/contract.ts';
import { settings } from '../settings/contract.ts';
import { health as healthChecks } from './contract.ts';
import { ROOT, SERVER_HEALTH, SERVER_INFO } from './descriptions.ts';
import { serverFields } from './graphql.ts';
import { createHealth, type HealthDeps, healthFor } from './health.ts';
import { infoFor } from './info.ts';
import manifest from './package.json' with { type: 'json' };
import { ping } from './ping.ts';
import { rootHandler } from './root.ts';

interface Config {
  ROOT_REDIRECT: string;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const used = host.use({ query, settings });
    let isStopping = false;
    host.define(healthChecks);
    // The kernel emits it before it stops taking connections: the health of requests that still run says so from then on.
    host.events.onAction('server.stop', () => {
      isStopping = true;
    });
    const checked: HealthDeps = {
      measure: createHealth(),
      checks: () => host.read(healthChecks),
      isStopping: () => isStopping,
    };

    async function health(ctx: HttpContext): Promise<void> {
      const shown = await healthFor(ctx.state.caller, checked);
      ctx.status = shown.status === 'error' ? 503 : 200;
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/health+json; charset=utf-8';
      ctx.body = JSON.stringify(shown);
    }

    host.contribute(middleware, ping);
    host.contribute(routes, {
      method: 'GET',
      path: '/server/health',
      description: SERVER_HEALTH,
      handle: health,
    });
    host.contribute(routes, {
      method: 'GET',
      path: '/server/info',
      description: SERVER_INFO,
      handle: async (ctx) => sendData(ctx, await infoFor(ctx.state.caller, used)),
    });
    host.contribute(routes, {
      method: 'GET',
      path: '/',
      description: ROOT,
      handle: rootHandler(host.config.ROOT_REDIRECT),
    });
    for (const field of serverFields({ ...used, health: checked }))
      host.contribute<GraphqlField>('graphql.fields', field);
  },
});
