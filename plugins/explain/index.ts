import { definePlugin } from '#kernel';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { schema } from '../schema/contract.ts';
import { createMissingIndexLogger } from './missing-index-logger.ts';
import manifest from './package.json' with { type: 'json' };
import { createExplainRoutes } from './routes.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items, schema });
    const watch = createMissingIndexLogger(host.log);
    for (const route of createExplainRoutes(used)) host.contribute(routes, route);
    used.schema.onChange(watch);
    host.onStart(async () => watch(await used.schema.snapshot()));
  },
});
