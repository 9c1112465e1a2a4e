import { resolve } from 'node:path';
import { definePlugin, type Log } from '#kernel';
import { activity } from '../activity/contract.ts';
import { broker } from '../broker/contract.ts';
import { bus } from '../cluster/contract.ts';
import { migrator } from '../database/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import type { GraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { appBundles, confinedLoaders, consents, extensionLoader, fullLoaders } from './contract.ts';
import { contributed } from './contributed.ts';
import { prepareFolders } from './discover/discover.ts';
import { fingerprint } from './discover/fingerprint.ts';
import { scan } from './discover/scan.ts';
import { extensionFields } from './graphql.ts';
import { createExtensions } from './load/extensions.ts';
import { within } from './load/within.ts';
import manifest from './package.json' with { type: 'json' };
import { stopBundler } from './packages/bundler.ts';
import { resolveOwnPackages } from './packages/resolve.ts';
import { createAsReason } from './records/record.ts';
import { createReload, type Reload } from './reload.ts';
import { extensionRoutes } from './routes.ts';
import type { ExtensionsConfig } from './settings.ts';
import { settingsOwners } from './settings-owners.ts';
import { pluginRows } from './third-party/rows.ts';
import { ThirdPartyPlugins } from './third-party/third-party.ts';
import { type Watch, watch } from './watch/watch.ts';

/** Milliseconds after which the service listens, whatever is still being loaded. */
const FIRST_LOAD = 50_000;

export default definePlugin<ExtensionsConfig>({
  manifest,
  register(host) {
    const { config, log, events, packages, asSystem } = host;
    const used = host.use({ activity, bus, migrator, settings: extensionSettings, subjects: broker });
    const { settings, subjects } = used;
    host.define(appBundles);
    host.define(confinedLoaders);
    host.define(consents);
    host.define(fullLoaders);
    const { consent, ...parts } = contributed(host);
    const asReason = createAsReason((text) => subjects.redact(text));
    const extensions = createExtensions(
      {
        ...parts,
        async discover() {
          if (config.SAFE_MODE) return [];
          const all = await scan({ config, packages, log, subjects, settings });
          consent.keep(all);
          return all;
        },
        consent: (found) => consent.check(found),
        settings: (all) => settings.load(settingsOwners(all, settings)),
        log,
      },
      asReason,
    );
    const thirdParty = new ThirdPartyPlugins({
      packages,
      folder: config.SAFE_MODE ? undefined : resolve(config.EXTENSIONS_PATH),
      consent: async (plugin) => (await consent.checkPlugin(plugin, packages.describe(plugin)))?.detail,
      found: (folders) => consent.keepPlugins(folders),
      prepare: used.migrator.run,
      log,
    });
    const rows = () => [...extensions.rows(), ...pluginRows(thirdParty.records(), asReason)];
    const reload = createReload({ extensions, plugins: thirdParty, rows, events, bus: used.bus, asSystem, log });
    let watching: Watch | undefined;
    let undoResolve: (() => void) | undefined;

    host.provide(extensionLoader, {
      failed: (id, failure) => extensions.failed(id, failure),
      recovered: (id) => extensions.recovered(id),
      again: (names) => reload.everywhere(asSystem('extensions come and go'), names),
    });
    const own = extensionRoutes({
      rows,
      runtime: extensions.runtime,
      appBundle: parts.appBundle,
      reload: reload.everywhere,
      activity: used.activity,
      account: () => subjects.account(),
      cacheTtl: config.EXTENSIONS_CACHE_TTL,
    });
    for (const route of own) host.contribute(routes, route);
    for (const field of extensionFields(extensions)) host.contribute<GraphqlField>('graphql.fields', field);

    // Before core plugins start: what these contribute, a storage driver for example, may be what they start with.
    host.onMigrate(async () => {
      undoResolve = resolveOwnPackages();
      await thirdParty.refresh();
    });
    host.onStart(async () => {
      await thirdParty.start();
      if (config.SAFE_MODE) log.warn('SAFE_MODE is on: no extension is loaded');
      else await prepareFolders(config.EXTENSIONS_PATH, log);
      await firstLoad(reload, parts.started, log);
      if (!config.EXTENSIONS_AUTO_RELOAD || config.SAFE_MODE) return;
      // Finding out which layers of confinement hold takes a second, which the first confined package need not wait for.
      void parts.runtime();
      const path = resolve(config.EXTENSIONS_PATH);
      watching = watch({ look: () => fingerprint(path), changed: reload.changed, log });
    });
    host.onStop(async () => {
      await watching?.stop();
      reload.gone();
      await extensions.stop();
      await stopBundler();
      undoResolve?.();
    });
  },
});

async function firstLoad(reload: Reload, started: () => Promise<void>, log: Log): Promise<void> {
  const load = async () => {
    await reload.first();
    await started();
  };
  await within(FIRST_LOAD, 'UNKNOWN', load).catch(() =>
    log.error('extensions are still being loaded: the service listens without waiting for them'),
  );
}
