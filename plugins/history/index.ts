import { definePlugin } from '#kernel';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import manifest from './package.json' with { type: 'json' };
import { keepUntouched } from './untouched.ts';

const READS = ['GET', 'SEARCH'];

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items });
    keepUntouched(host.events);
    for (const route of [
      ...collectionRoutes(used.items, '/activity', 'platform_activity'),
      ...collectionRoutes(used.items, '/revisions', 'platform_revisions'),
    ]) {
      if (READS.includes(route.method)) host.contribute(routes, route);
    }
  },
});
