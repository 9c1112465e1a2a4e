import { resolve } from 'node:path';
import { type AuditLine, capabilities, definePlugin, middleware } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { bus, lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import { graphqlFields } from '../graphql-fields/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { operations } from '../operations/contract.ts';
import { query } from '../query/contract.ts';
import { sandbox } from '../sandbox/contract.ts';
import { schema, schemaWrites } from '../schema/contract.ts';
import { endpointCapability } from './capabilities.ts';
import { createConfined } from './confined/load.ts';
import { createConsent } from './consent/consent.ts';
import { extensionGrantPlaces, extensionGrants } from './consent/migrations.ts';
import { consentRoutes } from './consent/routes.ts';
import type { Deps } from './deps.ts';
import { discover, prepareFolders } from './discover/discover.ts';
import { fingerprint } from './discover/fingerprint.ts';
import { fullCapability } from './full/capability.ts';
import { runInits, STARTING } from './full/init.ts';
import { loadFull } from './full/load.ts';
import { extensionTicks } from './full/ticks.ts';
import { stopBundler } from './gate/bundler.ts';
import { extensionFields } from './graphql.ts';
import { createExtensions } from './load/extensions.ts';
import { within } from './load/within.ts';
import { createMounts } from './mounts.ts';
import manifest from './package.json' with { type: 'json' };
import { createAsReason } from './records/record.ts';
import { createReload } from './reload.ts';
import { extensionRoutes } from './routes.ts';
import type { ExtensionsConfig } from './settings.ts';
import { settingsOwners } from './settings-owners.ts';
import { createAppBundle } from './sources/app-bundle.ts';
import { type Watch, watch } from './watch/watch.ts';

/** Milliseconds after which the service listens, whatever is still being loaded. */
const FIRST_LOAD = 50_000;

export default definePlugin<ExtensionsConfig>({
  manifest,
  register(host) {
    const { config, log, events, subjects, asSystem, db } = host;
    const { extensionSettings: settings, ...used } = host.use({
      access,
      activity,
      bus,
      extensionSettings,
      items,
      lock,
      operations,
      query,
      routing,
      sandbox,
      schema,
      schemaWrites,
    });
    const mounts = createMounts(() => used.routing.segments(), log);
    const appBundle = createAppBundle(log);
    const deps: Deps = {
      ...used,
      settings,
      config,
      log,
      events,
      subjects,
      asSystem,
      db,
      mounts,
      running: {
        failed: (id, failure) => extensions.failed(id, failure),
        recovered: (id) => extensions.recovered(id),
        again: (names) => reload.everywhere(asSystem('extensions come and go'), names),
      },
    };
    const consent = createConsent(deps);
    const confined = createConfined(deps, consent);
    const extensions = createExtensions(
      {
        async discover() {
          if (config.SAFE_MODE) return [];
          const own = new Set(['kernel', ...subjects.account().may.flatMap(nameOfPlugin)]);
          const all = await discover(
            { local: config.EXTENSIONS_PATH, project: config.PACKAGE_FILE_LOCATION },
            {
              ...deps,
              warn: (name, what) => log.warn({ extension: name }, `${name}: ${what}`),
              taken: (name) => own.has(name.toLowerCase()),
            },
          );
          consent.keep(all);
          return all;
        },
        consent: consent.check,
        loadFull: (found, phase) => loadFull(found, deps, phase),
        confined,
        runtime: () => used.sandbox.runtime(),
        settings: (all) => settings.load(settingsOwners(all, settings)),
        appBundle,
        log,
      },
      createAsReason((text) => subjects.redact(text)),
    );
    const reload = createReload({ extensions, events, bus: used.bus, asSystem, log });
    let watching: Watch | undefined;

    host.contribute(capabilities, endpointCapability);
    host.contribute(capabilities, fullCapability);
    host.contribute(middleware, mounts.layer);
    const own = extensionRoutes({
      extensions,
      appBundle,
      reload: reload.everywhere,
      activity: used.activity,
      account: () => subjects.account(),
      cacheTtl: config.EXTENSIONS_CACHE_TTL,
    });
    for (const route of [...own, ...consentRoutes(consent)]) host.contribute(routes, route);
    for (const field of extensionFields(extensions)) host.contribute(graphqlFields, field);
    for (const migration of [extensionTicks, extensionGrants, extensionGrantPlaces])
      host.contribute(migrations, migration);

    host.onStart(async () => {
      if (config.SAFE_MODE) log.warn('SAFE_MODE is on: no extension is loaded');
      else await prepareFolders(config.EXTENSIONS_PATH, log);
      const first = async () => {
        await reload.first();
        await runInits(deps, STARTING);
      };
      await within(FIRST_LOAD, 'UNKNOWN', first).catch(() =>
        log.error('extensions are still being loaded: the service listens without waiting for them'),
      );
      if (!config.EXTENSIONS_AUTO_RELOAD || config.SAFE_MODE) return;
      // Finding out which layers of confinement hold takes a second, which the first confined package need not wait for.
      void used.sandbox.runtime();
      const path = resolve(config.EXTENSIONS_PATH);
      watching = watch({
        look: () => fingerprint(path),
        changed: reload.changed,
        log,
      });
    });
    host.onStop(async () => {
      await watching?.stop();
      reload.gone();
      await extensions.stop();
      await stopBundler();
    });
  },
});

const nameOfPlugin = ({ name, runtime }: AuditLine) => (runtime === 'internal' ? [name] : []);
