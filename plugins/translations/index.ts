import { definePlugin } from '#kernel';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { systemCollections } from '../schema/contract.ts';
import { translationsCollection } from './collections.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items });
    host.contribute(systemCollections, translationsCollection);
    for (const route of collectionRoutes(used.items, '/translations', 'platform_translations')) {
      host.contribute(routes, route);
    }
  },
});
