import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { systemCollections } from '../schema/contract.ts';
import { PRESETS_COLLECTION, presetsCollection } from './collections.ts';
import { registerPresetWriteChecks } from './ownership-checks.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { db, events } = host;
    const used = host.use({ items, access });
    host.contribute(systemCollections, presetsCollection);
    registerPresetWriteChecks(used, events);
    // Deletes the presets of a deleted collection, so that a new collection of the same name starts without any.
    events.onFilter('collections.delete', async (_payload, { keys }) => {
      await db
        .table(PRESETS_COLLECTION)
        .whereIn('collection', keys as string[])
        .delete();
    });
    for (const route of collectionRoutes(used.items, '/presets', PRESETS_COLLECTION)) host.contribute(routes, route);
  },
});
