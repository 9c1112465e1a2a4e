import { definePlugin, middleware, VERSION } from '#kernel';
import { type HttpContext, routes, sendData } from '../http/contract.ts';
import { query } from '../query/contract.ts';
import { createHealth } from './health.ts';
import { infoFor } from './info.ts';
import manifest from './package.json' with { type: 'json' };
import { ping } from './ping.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ query });
    const measure = createHealth();

    async function health(ctx: HttpContext): Promise<void> {
      const { caller, health: known } = ctx.state;
      const measured = await measure(known.checks);
      const status = known.draining ? 'error' : measured.status;
      ctx.status = status === 'error' ? 503 : 200;
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/health+json; charset=utf-8';
      const detail = { releaseId: VERSION, serviceId: 'service', checks: measured.checks };
      ctx.body = JSON.stringify({ status, ...(caller.admin ? detail : {}) });
    }

    host.contribute(middleware, ping);
    host.contribute(routes, { method: 'GET', path: '/server/health', handle: health });
    host.contribute(routes, {
      method: 'GET',
      path: '/server/info',
      handle: (ctx) => sendData(ctx, infoFor(ctx.state.caller, used.query)),
    });
  },
});
