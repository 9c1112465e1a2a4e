import { resolve } from 'node:path';
import { commands, definePlugin, type Log } from '#kernel';
import { activity } from '../activity/contract.ts';
import { broker } from '../broker/contract.ts';
import { bus, presence } from '../cluster/contract.ts';
import { migrator } from '../database/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import type { GraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import type { HealthCheck } from '../server/contract.ts';
import { createAllPackages } from './all-packages.ts';
import { auditCommand } from './audit/command.ts';
import { createJointLedger } from './audit/joint-ledger.ts';
import { appBundles, confinedLoaders, consents, extensionLoader, fullLoaders, requirements } from './contract.ts';
import { prepareFolders } from './discover/discover.ts';
import { fingerprint } from './discover/fingerprint.ts';
import { createExtensionFields } from './graphql.ts';
import { withDeadline } from './load/deadline.ts';
import { readLoaderContributions } from './loader-contributions.ts';
import manifest from './package.json' with { type: 'json' };
import { stopBundler } from './packages/bundler.ts';
import { registerImportHooks } from './packages/import-hooks.ts';
import type { ExtensionRow } from './records/record.ts';
import { createReload, type Reload } from './reload.ts';
import { extensionRoutes } from './routes.ts';
import type { ExtensionsConfig } from './settings.ts';
import { registerPackageFolders } from './throwing-package.ts';
import { type Watch, watch } from './watch/watch.ts';

/** Milliseconds after which the service listens, whatever is still being loaded. */
const FIRST_LOAD_DEADLINE = 50_000;

export default definePlugin<ExtensionsConfig>({
  manifest,
  register(host) {
    const { config, log, events, packages, asSystem } = host;
    const used = host.use({ activity, bus, presence, migrator, settings: extensionSettings, subjects: broker });
    host.define(appBundles);
    host.define(confinedLoaders);
    host.define(consents);
    host.define(fullLoaders);
    host.define(requirements);
    const parts = readLoaderContributions(host);
    const { migrator: migrations, settings, subjects } = used;
    const all = createAllPackages({ config, packages, log, subjects, settings, migrator: migrations, parts });
    const { extensions, plugins, rows } = all;
    const ledgers = createJointLedger({ ...used, did: packages.did, since: new Date().toISOString() });
    const reload = createReload({ extensions, plugins, rows, events, bus: used.bus, asSystem, log });
    let watching: Watch | undefined;
    let undoResolve: (() => void) | undefined;
    let undoCulprits: (() => void) | undefined;

    host.provide(extensionLoader, {
      reportFailed: (id, failure) => extensions.reportFailed(id, failure),
      reportRecovered: (id) => extensions.reportRecovered(id),
      reload: (names) => reload.reloadEverywhere(asSystem('extensions come and go'), names),
    });
    const own = extensionRoutes({
      rows,
      runtime: extensions.runtime,
      appBundle: parts.appBundle,
      reload: reload.reloadEverywhere,
      setRequired: (found, required) => parts.requirements()?.setRequired(found, required),
      activity: used.activity,
      readAudit: async () => ({ may: subjects.account().may, ...(await ledgers()) }),
      cacheTtl: config.EXTENSIONS_CACHE_TTL,
    });
    host.contribute(commands, auditCommand({ packages, packageLines: all.auditLines }));
    for (const route of own) host.contribute(routes, route);
    for (const field of createExtensionFields(extensions)) host.contribute<GraphqlField>('graphql.fields', field);

    host.contribute<HealthCheck>('health', createFailedCheck(rows));

    // Before core plugins start: what these contribute, a storage driver for example, may be what they start with.
    host.onMigrate(async () => {
      undoResolve = registerImportHooks();
      undoCulprits = registerPackageFolders(() => rows().map(({ extension }) => extension));
      await plugins.refresh();
    });
    host.onStart(async () => {
      await parts.requirements()?.prepare();
      await plugins.start();
      if (config.SAFE_MODE) log.warn('SAFE_MODE is on: no extension is loaded');
      else await prepareFolders(config.EXTENSIONS_PATH, log);
      await firstLoad(reload, parts.afterFirstLoad, log);
      parts.requirements()?.assertLoaded(all.states(), listReasons(rows()));
      if (!config.EXTENSIONS_AUTO_RELOAD || config.SAFE_MODE) return;
      // Finding out which layers of confinement hold takes a second, which the first confined package need not wait for.
      void parts.runtime();
      const path = resolve(config.EXTENSIONS_PATH);
      watching = watch({ readState: () => fingerprint(path), onChange: reload.reloadChanged, log });
    });
    host.onStop(async () => {
      await watching?.stop();
      reload.announceUnload();
      await extensions.stop();
      await stopBundler();
      undoResolve?.();
      undoCulprits?.();
    });
  },
});

async function firstLoad(reload: Reload, started: () => Promise<void>, log: Log): Promise<void> {
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

/** How many packages failed, as a whole or in part. */
const createFailedCheck = (rows: () => readonly ExtensionRow[]): HealthCheck => ({
  name: 'extensions:failed',
  componentType: 'component',
  async check() {
    const value = rows().filter(({ status }) => status === 'failed' || status === 'partial').length;
    return { value, unit: 'packages', status: value > 0 ? 'warn' : 'ok' };
  },
});
