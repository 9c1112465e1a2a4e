import { definePlugin, middleware } from '#kernel';
import { createBodyReader } from './body.ts';
import { type HttpContext, routes, routing } from './contract.ts';
import { edge } from './edge.ts';
import manifest from './package.json' with { type: 'json' };
import { createRouter, type FindRoute } from './router.ts';
import type { HttpConfig } from './settings.ts';

export default definePlugin<HttpConfig>({
  manifest,
  register(host) {
    const { config, log } = host;
    const readBody = createBodyReader(config.MAX_PAYLOAD_SIZE);
    let findRoute: FindRoute = () => undefined;
    let segments: ReadonlySet<string> = new Set();

    host.define(routes);
    host.provide(routing, { segments: () => segments, readBody });
    host.contribute(
      middleware,
      edge(config, log, (method, path) => findRoute(method, path)),
    );
    host.contribute(middleware, {
      name: 'router',
      phase: 'route',
      async handle(ctx, next) {
        const found = findRoute(ctx.method, ctx.path);
        if (!found) return next();
        const context = ctx as unknown as HttpContext & { params: HttpContext['params'] };
        context.params = found.params;
        if (found.route.method !== '*' && found.route.body !== 'unread') context.state.body = await readBody(ctx);
        await found.route.handle(context);
      },
    });
    host.onStart(() => {
      const all = host.read(routes).map(({ value }) => value);
      findRoute = createRouter(all);
      segments = new Set(all.map(({ path }) => (path.split('/')[1] as string).toLowerCase()));
    });
  },
});
