import { commands, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { bus, lock, presence } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { items, referenceRemoval } from '../items/contract.ts';
import { media } from '../media/contract.ts';
import { outbound } from '../outbound/contract.ts';
import { query } from '../query/contract.ts';
import { schedule } from '../schedule/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { storage } from '../storage/contract.ts';
import { filesCommand } from './check/command.ts';
import { filesCollection, orphanedObjectsCollection, storageLocationsCollection } from './collections.ts';
import type { FilesConfig } from './config.ts';
import { files } from './contract.ts';
import type { FileRouteDeps, FileServiceDeps } from './deps.ts';
import { fileGraphqlFields } from './graphql.ts';
import { createFileImporter } from './import/import-file-from-url.ts';
import { parseFileImportRequest } from './import/parse-import-request.ts';
import { createOrphanJanitor } from './janitor.ts';
import { createOrphanLedger } from './orphan-ledger.ts';
import { createOrphanTriggerMigration } from './orphan-triggers.ts';
import manifest from './package.json' with { type: 'json' };
import { createProcessStorageLocationRegistry } from './process-location-registry.ts';
import { fileRoutes } from './routes/index.ts';
import { registerFileReferenceClearing } from './rules/clear-references-on-delete.ts';
import { registerFileWriteRules } from './rules/write-rules.ts';
import { createFileStorageService } from './service.ts';

export default definePlugin<FilesConfig>({
  manifest,
  register(host) {
    const { asSystem, config, db, events, log } = host;
    const used = host.use({
      access,
      bus,
      items,
      lock,
      media,
      outbound,
      presence,
      query,
      references: referenceRemoval,
      routing,
      schedule,
      schema,
      settings,
      storage,
    });
    const deps: FileServiceDeps & Pick<typeof used, 'references'> = { ...used, config, db, events, log };
    host.contribute(systemCollections, filesCollection);
    host.contribute(systemCollections, orphanedObjectsCollection);
    host.contribute(systemCollections, storageLocationsCollection);
    host.contribute(migrations, createOrphanTriggerMigration(db));

    const ledger = createOrphanLedger(deps);
    const janitor = createOrphanJanitor({ ...deps, ledger, schedule: used.schedule });
    const { waitForRemoval } = janitor;
    const service = createFileStorageService({ ...deps, ledger, waitForRemoval });
    const importFile = createFileImporter({ ...used, config, files: service, asSystem });
    const serving: FileRouteDeps = {
      ...used,
      ...deps,
      asSystem,
      files: service,
      importFile,
      readBody: used.routing.readBody,
      waitForRemoval,
    };
    host.provide(files, {
      ...service,
      importFrom: async (caller, url, data, signal = new AbortController().signal) =>
        importFile(caller, parseFileImportRequest({ url, data }), signal),
    });
    for (const route of fileRoutes(serving)) host.contribute(routes, route);
    for (const field of fileGraphqlFields(serving)) host.contribute<ContributedGraphqlField>('graphql.fields', field);
    host.contribute(commands, filesCommand({ ...deps, janitor }));
    registerFileWriteRules(deps, events);
    registerFileReferenceClearing(deps, events);

    const places = createProcessStorageLocationRegistry(deps);
    host.onStart(janitor.start);
    host.onStop(janitor.stop);
    host.onStart(places.register);
    host.onStop(places.unregister);
  },
});
