import { definePlugin } from '#kernel';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { systemCollections } from '../schema/contract.ts';
import { foldersCollection } from './collections.ts';
import { createFolderTreeTriggerMigration } from './folder-cycle-trigger.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items });
    host.contribute(systemCollections, foldersCollection);
    host.contribute(migrations, createFolderTreeTriggerMigration(host.db));
    for (const route of collectionRoutes(used.items, '/folders', 'platform_folders')) host.contribute(routes, route);
  },
});
