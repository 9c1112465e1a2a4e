import { type ContributionTo, commands, definePlugin } from '#kernel';
import { bus, presence } from '../cluster/contract.ts';
import { type Db, maintenance, migrations } from '../database/contract.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import { createCatalogReader } from './catalog/catalog-reader.ts';
import { createExcludedTableCheck, withoutExcludedTables } from './catalog/excluded-tables.ts';
import { rowChanges, SCHEMA_CHANNEL, type SchemaService, schema, schemaWrites, systemCollections } from './contract.ts';
import { installChangeTriggers } from './freshness/change-triggers.ts';
import { createSchemaDoctorCheck } from './freshness/doctor-check.ts';
import { createSchemaCache } from './freshness/schema-cache.ts';
import manifest from './package.json' with { type: 'json' };
import { createRowChanges } from './row-changes/row-changes.ts';
import { buildSchemaSnapshot } from './snapshot/build.ts';
import { collectSystemCollectionDeclarations, type DeclaredCollections } from './system/declarations.ts';
import { registryCollections } from './system/registry-collections.ts';
import { createSystemTablesMigration, hashSystemCollectionDeclarations } from './system/system-tables-migration.ts';
import { createUninstallCommand } from './uninstall/uninstall-command.ts';
import { findUnservedTables, renderUnservedTablesWarning } from './unserved-tables.ts';
import { createSchemaWrites } from './writes/index.ts';

interface Config {
  readonly CACHE_SCHEMA: boolean;
  readonly DB_EXCLUDE_TABLES: readonly string[];
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ bus, 'database-maintenance': maintenance, presence });
    const messages = used.bus;
    host.define(systemCollections);
    for (const one of registryCollections) host.contribute(systemCollections, one);

    let collected: DeclaredCollections | undefined;
    // Collected again when a plugin with system collections is loaded or unloaded.
    const declared = () => (collected ??= collectSystemCollectionDeclarations(host.read(systemCollections)));
    host.contribute(migrations, createSystemTablesMigration(declared));

    const isExcluded = createExcludedTableCheck(manifest.name, config.DB_EXCLUDE_TABLES);
    const inUnit = createUnitCheck(db);
    const cache = createSchemaCache({
      source: createCatalogReader(db),
      build: (reading) =>
        buildSchemaSnapshot({
          content: withoutExcludedTables(reading.content(), isExcluded),
          version: `${reading.digest.slice(0, 12)}${hashSystemCollectionDeclarations(declared()).slice(0, 6)}`,
          declarations: declared(),
          firstSchema: db.schemas[0] as string,
        }),
      inUnit,
      log,
    });
    const unservedTables = async () => findUnservedTables(db, await cache.snapshot(), declared(), isExcluded);
    let announcing: Promise<boolean> | undefined;
    const announceCommands = () => (announcing ??= installChangeTriggers(db, log));
    const service: SchemaService = {
      announceCommands,
      snapshot: cache.snapshot,
      refresh: cache.refresh,
      onChange: cache.onChange,
      unservedTables,
      systemCollections: () => [...declared().values()].filter(({ internal }) => !internal),
    };
    host.provide(schema, service);
    host.provide(rowChanges, createRowChanges({ db, bus: messages, log }));
    host.provide(schemaWrites, createSchemaWrites({ db, cache, events, bus: messages, inUnit }));

    host.contribute(
      commands,
      createUninstallCommand({
        db,
        maintenance: used['database-maintenance'],
        presence: used.presence,
        systemCollections: () => new Set(declared().keys()),
      }),
    );

    host.contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createSchemaDoctorCheck({ db, maintenance: used['database-maintenance'], isCached: config.CACHE_SCHEMA }),
    );

    let isStarted = false;
    host.watch(systemCollections, () => {
      collected = undefined;
      if (isStarted) cache.rebuild();
    });
    messages.subscribe(SCHEMA_CHANNEL, cache.invalidate);
    messages.onLost(() => cache.setAnnouncementsArriving(false));
    messages.onReconnect(() => cache.setAnnouncementsArriving(true));
    host.onStart(async () => {
      if (config.CACHE_SCHEMA || (await announceCommands())) cache.trustAnnouncements();
      await cache.refresh();
      isStarted = true;
      const tables = await unservedTables();
      if (tables.length > 0) log.warn(renderUnservedTablesWarning(tables));
    });
  },
});

/** Whether a unit of work is open around the caller: then an after-commit effect does not run at once. */
const createUnitCheck = (db: Pick<Db, 'afterCommit'>) => (): boolean => {
  let waits = true;
  db.afterCommit(() => {
    waits = false;
  });
  return waits;
};
