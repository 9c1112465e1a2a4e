import { resolve } from 'node:path';
import { commands, definePlugin, type Log } from '#kernel';
import { activity } from '../activity/contract.ts';
import { broker } from '../broker/contract.ts';
import { bus, presence } from '../cluster/contract.ts';
import { migrator } from '../database/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import type { MetricSource } from '../metrics/contract.ts';
import type { HealthCheck } from '../server/contract.ts';
import { createThirdPartyPackages } from './all-packages.ts';
import { auditCommand } from './audit/command.ts';
import { createJointLedger } from './audit/joint-ledger.ts';
import {
  appBundles,
  confinedLoaders,
  consentDeciders,
  disabledPackages,
  extensionStatusControl,
  fullAuthorityLoaders,
  packageSources,
  requiredPackageGuards,
} from './contract.ts';
import { createExtensionFolders } from './discover/discover.ts';
import { fingerprintFolder } from './discover/fingerprint.ts';
import { createExtensionGraphqlFields } from './graphql.ts';
import { withDeadline } from './load/deadline.ts';
import { readLoaderContributions } from './loader-contributions.ts';
import { createExtensionMetricSource } from './metric-source.ts';
import manifest from './package.json' with { type: 'json' };
import { stopBundler } from './packages/bundler.ts';
import { registerImportHooks } from './packages/import-hooks.ts';
import type { ExtensionRow } from './records/info-record.ts';
import { createReloadControl, type ReloadControl } from './reload.ts';
import { extensionRoutes } from './routes.ts';
import { extensionsServiceClass } from './service-class.ts';
import type { ExtensionsConfig } from './settings.ts';
import { registerPackagesForErrorAttribution } from './throwing-package.ts';
import { type FolderWatch, watchFolder } from './watch/watch.ts';

/** Milliseconds after which the service listens although extensions are still loading. */
const FIRST_LOAD_DEADLINE = 50_000;

/** How other plugins take part in loading packages. */
const FACETS = [
  appBundles,
  confinedLoaders,
  consentDeciders,
  disabledPackages,
  fullAuthorityLoaders,
  packageSources,
  requiredPackageGuards,
];

export default definePlugin<Omit<ExtensionsConfig, 'SAFE_MODE'>, Pick<ExtensionsConfig, 'SAFE_MODE'>>({
  manifest,
  register(host) {
    const { config, log, events, packages, asSystem } = host;
    const used = host.use({ activity, bus, presence, migrator, settings: extensionSettings, subjects: broker });
    for (const facet of FACETS) host.define(facet as typeof appBundles);
    const contributions = readLoaderContributions(host);
    const { subjects } = used;
    const all = createThirdPartyPackages({ ...used, config, packages, log, contributions });
    const { extensions, plugins, rows } = all;
    const ledgers = createJointLedger({ ...used, did: packages.ledgerEntries, since: new Date().toISOString() });
    const reload = createReloadControl({
      extensions,
      plugins,
      bring: all.bring,
      rows,
      events,
      bus: used.bus,
      asSystem,
      log,
    });
    let watcher: FolderWatch | undefined;
    let removeImportHooks: (() => void) | undefined;
    let removePackageFolders: (() => void) | undefined;

    host.provide(extensionStatusControl, {
      reportFailed: (id, failure) => extensions.reportFailed(id, failure),
      reportRecovered: (id) => extensions.reportRecovered(id),
      reload: (names) => reload.reloadEverywhere(asSystem('extensions are loaded or unloaded'), names),
      hasFullAuthorityPackages: all.hasFullAuthority,
    });
    const extensionRouteList = extensionRoutes({
      rows,
      runtime: extensions.runtime,
      appBundle: contributions.appBundle,
      reload: reload.reloadEverywhere,
      setRequired: (found, required) => contributions.requirements()?.setRequired(found, required),
      disabled: contributions.disabled,
      activity: used.activity,
      readAudit: async () => ({ may: subjects.account().may, ...(await ledgers()) }),
      cacheTtl: config.EXTENSIONS_CACHE_TTL,
    });
    host.contribute(commands, auditCommand({ packages, packageLines: all.auditLines }));
    for (const route of extensionRouteList) host.contribute(routes, route);
    for (const field of createExtensionGraphqlFields(extensions))
      host.contribute<ContributedGraphqlField>('graphql.fields', field);

    host.contribute<HealthCheck>('health', createFailedCheck(rows));
    host.contribute<MetricSource>('metrics.sources', createExtensionMetricSource(rows, packages.ledgerEntries));
    host.contribute<ServiceClass>('extensions.services', extensionsServiceClass(rows));

    // Third-party plugins load before core plugins start, because a core plugin may start with what they contribute, a
    // storage driver for example.
    host.onMigrate(async () => {
      removeImportHooks = registerImportHooks();
      removePackageFolders = registerPackagesForErrorAttribution(() => rows().map(({ extension }) => extension));
      await plugins.refresh();
    });
    host.onStart(async () => {
      await contributions.requirements()?.prepare();
      await plugins.start();
      if (config.SAFE_MODE) log.warn('SAFE_MODE is on: no extension is loaded');
      else await createExtensionFolders(config.EXTENSIONS_PATH, log);
      await firstLoad(reload, contributions.afterFirstLoad, log);
      if (!config.SAFE_MODE) contributions.source()?.watch(() => void reload.reloadChanged());
      contributions.requirements()?.assertLoaded(all.states(), listReasons(rows()));
      if (!config.EXTENSIONS_AUTO_RELOAD || config.SAFE_MODE) return;
      // Detecting the layers of confinement takes a second; started here, the first confined package does not wait for
      // it.
      void contributions.runtime();
      const path = resolve(config.EXTENSIONS_PATH);
      watcher = watchFolder({ readState: () => fingerprintFolder(path), onChange: reload.reloadChanged, log });
    });
    host.onStop(async () => {
      await watcher?.stop();
      reload.announceUnload();
      await extensions.stop();
      await stopBundler();
      removeImportHooks?.();
      removePackageFolders?.();
    });
  },
});

async function firstLoad(reload: ReloadControl, started: () => Promise<void>, log: Log): Promise<void> {
  const load = async () => {
    await reload.loadFirst();
    await started();
  };
  await withDeadline(FIRST_LOAD_DEADLINE, 'UNKNOWN', load).catch(() =>
    log.error('extensions are still being loaded: the service listens without waiting for them'),
  );
}

const listReasons = (rows: readonly ExtensionRow[]): ReadonlyMap<string, string> =>
  new Map(
    rows.flatMap(({ extension, reason }) => (reason ? [[extension.name, `${reason.code}: ${reason.detail}`]] : [])),
  );

/** Counts packages that failed, as a whole or in part. */
const createFailedCheck = (rows: () => readonly ExtensionRow[]): HealthCheck => ({
  name: 'extensions:failed',
  componentType: 'component',
  async check() {
    const value = rows().filter(({ status }) => status === 'failed' || status === 'partial').length;
    return { value, unit: 'packages', status: value > 0 ? 'warn' : 'ok' };
  },
});
