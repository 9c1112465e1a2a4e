import { definePlugin } from '#kernel';
import { identity } from '../auth/contract.ts';
import '../database/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { files } from '../files/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { notifications } from '../notifications/contract.ts';
import '../queue/contract.ts';
import { findJobCaller } from '../queue/library.ts';
import { schema } from '../schema/contract.ts';
import { importExport } from './contract.ts';
import { createExportJobs } from './export/export-jobs.ts';
import { createExportNotices } from './export/export-notices.ts';
import { createRowImporter } from './import/row-importer.ts';
import manifest from './package.json' with { type: 'json' };
import { importExportRoutes } from './routes.ts';
import { exportServiceClass, importServiceClass } from './service-class.ts';

interface Config {
  DATA_IMPORT_TIMEOUT: number;
  DATA_IMPORT_MAX_CONCURRENCY: number;
  DATA_IMPORT_MAX_FILE_SIZE: number;
  MAX_IMPORT_ERRORS: number;
  DATA_EXPORT_TIMEOUT: number;
  DATA_EXPORT_MAX_CONCURRENCY: number;
}

interface SharedConfig {
  MAX_PAYLOAD_SIZE: number;
}

export default definePlugin<Config, SharedConfig>({
  manifest,
  register(host) {
    const { config, db, log, queue } = host;
    const used = host.use({ files, identity, items, notifications, schema });
    const importRows = createRowImporter({
      ...used,
      limits: {
        timeout: config.DATA_IMPORT_TIMEOUT,
        concurrency: config.DATA_IMPORT_MAX_CONCURRENCY,
        maxBytes: config.DATA_IMPORT_MAX_FILE_SIZE,
        maxRowSize: config.MAX_PAYLOAD_SIZE,
        maxErrors: config.MAX_IMPORT_ERRORS,
      },
    });
    const { exportRows, stop } = createExportJobs({
      ...used,
      db,
      findCaller: (stored) => findJobCaller(used.identity, stored),
      notices: createExportNotices({ notifications: used.notifications, log }),
      queue,
      timeout: config.DATA_EXPORT_TIMEOUT,
      concurrency: config.DATA_EXPORT_MAX_CONCURRENCY,
      log,
    });
    host.provide(importExport, { importRows, exportRows });
    for (const one of [importServiceClass({ importRows }), exportServiceClass({ exportRows })])
      host.contribute<ServiceClass>('extensions.services', one);
    for (const route of importExportRoutes({ items: used.items, importRows, exportRows }))
      host.contribute(routes, route);
    host.onStop(stop);
  },
});
