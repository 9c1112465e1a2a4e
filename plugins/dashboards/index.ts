import { definePlugin } from '#kernel';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { systemCollections } from '../schema/contract.ts';
import { dashboardsCollection, panelsCollection } from './collections.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items });
    for (const one of [dashboardsCollection, panelsCollection]) host.contribute(systemCollections, one);
    for (const route of [
      ...collectionRoutes(used.items, '/dashboards', 'platform_dashboards'),
      ...collectionRoutes(used.items, '/panels', 'platform_panels'),
    ]) {
      host.contribute(routes, route);
    }
  },
});
