import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { bus, lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { media } from '../media/contract.ts';
import { query } from '../query/contract.ts';
import { schema } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { storage } from '../storage/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { reachable } from './reachable.ts';
import { announceFiles } from './reading/announcement.ts';
import { createFindReadable } from './reading/readable.ts';
import { createRecords } from './reading/records.ts';
import { type CachingConfig, createCaching } from './serving/caching.ts';
import { createSendFile } from './serving/file.ts';
import { createObjects } from './serving/objects.ts';
import { assetRoutes } from './serving/routes.ts';
import { createVariants, type TransformConfig } from './transform/index.ts';

export default definePlugin<CachingConfig & TransformConfig>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const given = host.use({ access, bus, lock, media, query, schema, settings, storage });
    const used = { ...given, storage: reachable(given.storage, log) };
    host.contribute(migrations, announceFiles(db));

    const records = createRecords(db, used.bus);
    // The next request of this process must see the change, so nobody waits for the message from the database.
    for (const event of ['files.upload', 'files.update', 'files.delete']) events.onAction(event, records.forget);

    const variants = createVariants({ ...used, config, db, log });
    host.onStop(variants.tidied);
    const objects = createObjects(used.storage);
    const served = assetRoutes({
      findReadable: createFindReadable({ ...used, records }),
      variants,
      objects,
      cachingFor: createCaching(config, used.access),
      sendFile: createSendFile(objects),
    });
    for (const route of served) host.contribute(routes, route);
  },
});
