import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { bus, lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { routes } from '../http/contract.ts';
import { parsePolicyAdditions } from '../http/library.ts';
import { items } from '../items/contract.ts';
import { media } from '../media/contract.ts';
import { query } from '../query/contract.ts';
import { schema } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { storage } from '../storage/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { fileChangeTriggers } from './reading/file-change-triggers.ts';
import { createFileRecordReader } from './reading/file-record-cache.ts';
import { createFindReadableFile } from './reading/readable-file.ts';
import { assetsServiceClass } from './service-class.ts';
import { type AssetCachingConfig, createAssetCachePolicyFor } from './serving/cache-policy.ts';
import { createStoredObjectCache } from './serving/object-cache.ts';
import { assetRoutes } from './serving/routes.ts';
import { createSendFile } from './serving/send-file.ts';
import { withStorageErrorsAsUnavailable } from './storage-error-wrapper.ts';
import { createImageVariantService, type ImageTransformConfig } from './transform/index.ts';
import { zipRoutes } from './zip/zip-routes.ts';

interface AssetsConfig extends AssetCachingConfig, ImageTransformConfig {
  readonly ASSETS_ZIP_MAX_FILES: number;
  readonly 'ASSETS_CONTENT_SECURITY_POLICY_DIRECTIVES__*': Readonly<Record<string, string>>;
}

const POLICY_SETTING = 'ASSETS_CONTENT_SECURITY_POLICY_DIRECTIVES__';

export default definePlugin<AssetsConfig>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const services = host.use({ access, bus, items, lock, media, query, schema, settings, storage });
    const used = { ...services, storage: withStorageErrorsAsUnavailable(services.storage, log) };
    host.contribute(migrations, fileChangeTriggers(db));

    const records = createFileRecordReader(db, used.bus);
    // Bytes that were replaced or deleted are served by no process once the change is answered.
    for (const event of ['files.update', 'files.delete'])
      events.onFilter(event, () => db.answerAfter(used.bus.waitForConfirmation));
    // The next request of this process must see the change, so it does not wait for the notification of PostgreSQL.
    for (const event of ['files.upload', 'files.update', 'files.delete']) events.onAction(event, records.forget);

    const variants = createImageVariantService({ ...used, config, db, log });
    host.onStop(variants.waitForCleanUp);
    const objects = createStoredObjectCache(used.storage);
    const findReadable = createFindReadableFile({ ...used, records });
    const served = assetRoutes({
      findReadable,
      variants,
      objects,
      cachingFor: createAssetCachePolicyFor(config, used.access),
      sendFile: createSendFile(objects),
      policyAdditions: parsePolicyAdditions(manifest.name, POLICY_SETTING, config[`${POLICY_SETTING}*`]),
    });
    const archives = zipRoutes({ ...used, findReadable, maxFiles: config.ASSETS_ZIP_MAX_FILES });
    for (const route of [...served, ...archives]) host.contribute(routes, route);
    host.contribute<ServiceClass>('extensions.services', assetsServiceClass({ ...used, findReadable, variants }));
  },
});
