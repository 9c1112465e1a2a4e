import { definePlugin } from '#kernel';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import manifest from './package.json' with { type: 'json' };
import { refuseHistoryWrites } from './refuse-writes.ts';

const READ_METHODS = ['GET', 'SEARCH'];

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items });
    refuseHistoryWrites(host.events);
    for (const route of [
      ...collectionRoutes(used.items, '/activity', 'platform_activity'),
      ...collectionRoutes(used.items, '/revisions', 'platform_revisions'),
    ]) {
      if (READ_METHODS.includes(route.method)) host.contribute(routes, route);
    }
  },
});
