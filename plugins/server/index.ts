import { definePlugin, middleware } from '#kernel';
import { graphqlFields } from '../graphql-fields/contract.ts';
import { type HttpContext, routes, sendData } from '../http/contract.ts';
import { query } from '../query/contract.ts';
import { settings } from '../settings/contract.ts';
import { serverFields } from './graphql.ts';
import { createHealth, healthFor } from './health.ts';
import { infoFor } from './info.ts';
import manifest from './package.json' with { type: 'json' };
import { ping } from './ping.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ query, settings });
    const measure = createHealth();

    async function health(ctx: HttpContext): Promise<void> {
      const shown = await healthFor(ctx.state.caller, ctx.state.health, measure);
      ctx.status = shown.status === 'error' ? 503 : 200;
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/health+json; charset=utf-8';
      ctx.body = JSON.stringify(shown);
    }

    host.contribute(middleware, ping);
    host.contribute(routes, { method: 'GET', path: '/server/health', handle: health });
    host.contribute(routes, {
      method: 'GET',
      path: '/server/info',
      handle: async (ctx) => sendData(ctx, await infoFor(ctx.state.caller, used)),
    });
    for (const field of serverFields({ ...used, measure })) host.contribute(graphqlFields, field);
  },
});
