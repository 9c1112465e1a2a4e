import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyCallerForActingCode } from '../caller.ts';
import type { Authority, GrantHolder } from '../capabilities/capability.ts';
import { assertValidManifestContributions, assertValidManifestGrants } from '../capabilities/grant.ts';
import type { PluginLoaderApi } from '../capabilities/packages.ts';
import { createPluginHost, type PluginHooks } from '../capabilities/plugin-host.ts';
import { fail } from '../errors.ts';
import type { Plugin } from '../plugin.ts';
import { assertNoSettingsProblems, BootFailure, type TimedPhase } from './boot-failure.ts';
import { type PluginInfo, readPluginManifest } from './discover.ts';
import { assertNoPluginNameConflicts, sortPlugins } from './plugin-order.ts';
import type { PluginStores } from './plugin-registration-stores.ts';

/** Milliseconds that one hook of a phase may take. */
export type PluginHookTimeouts = Readonly<Record<TimedPhase, number>>;
const TIMEOUTS: PluginHookTimeouts = { migrate: 300_000, start: 60_000, stop: 10_000 };

/** Registers, migrates, starts and unloads plugins, core and third-party ones alike, at boot and while the service runs. */
export class PluginLoader implements PluginLoaderApi {
  readonly #loaded = new Map<string, { readonly plugin: PluginInfo; readonly hooks: PluginHooks }>();
  readonly #stores: () => PluginStores;
  readonly #limits: PluginHookTimeouts;

  constructor(stores: () => PluginStores, limits: Partial<PluginHookTimeouts> = {}) {
    this.#stores = stores;
    this.#limits = { ...TIMEOUTS, ...limits };
  }

  readonly loaded = (): readonly PluginInfo[] => [...this.#loaded.values()].map(({ plugin }) => plugin);

  readonly inspect = async (folder: string): Promise<PluginInfo> => {
    const one = await readPluginManifest(folder, false);
    const all = [...this.loaded().filter((other) => other.folder !== folder), one];
    assertNoPluginNameConflicts(all);
    sortPlugins(all);
    return one;
  };

  readonly describe = (plugin: PluginInfo): readonly Authority[] => this.#stores().describe(plugin);

  readonly load = (plugin: PluginInfo, registered?: () => Promise<void>): Promise<void> =>
    this.#orUnload(plugin, async () => {
      const { settings, facets } = this.#stores();
      const { name, manifest } = plugin;
      assertNoSettingsProblems(name, settings.declare(name, manifest.config));
      settings.assertShared(name);
      await this.register(plugin);
      assertValidManifestContributions(plugin, facets);
      facets.flush();
      await registered?.();
      await this.run('migrate', plugin);
    });

  readonly start = (plugin: PluginInfo): Promise<void> => this.#orUnload(plugin, () => this.run('start', plugin));

  readonly unload = async (plugin: PluginInfo): Promise<void> => {
    await this.stop(plugin);
    this.#loaded.delete(plugin.name);
    this.#stores().removeOwner(plugin.name);
  };

  /** Runs the plugin's `register`, which is synchronous. */
  async register(plugin: PluginInfo): Promise<void> {
    const { name, folder, manifest } = plugin;
    const stores = this.#stores();
    try {
      assertValidManifestGrants(plugin, stores.knownCapabilities());
      const module = (await import(pathToFileURL(join(folder, manifest.path)).href)) as { default?: Plugin };
      if (typeof module.default?.register !== 'function') {
        throw new BootFailure(name, 'register', `${manifest.path} has no default export made by definePlugin`);
      }
      const hooks: PluginHooks = { migrate: [], start: [], stop: [] };
      this.#loaded.set(name, { plugin, hooks });
      const result: unknown = module.default.register(createPluginHost(plugin, this.#holderOf(plugin), stores, hooks));
      if (result instanceof Promise) throw new BootFailure(name, 'register', 'register must be synchronous');
    } catch (error) {
      throw BootFailure.from(name, 'register', error);
    }
  }

  /** Runs the hooks of one phase. After a failed one, `unload` undoes what the others began. */
  async run(phase: 'migrate' | 'start', { name }: PluginInfo): Promise<void> {
    for (const hook of this.#loaded.get(name)?.hooks[phase] ?? []) await this.#runTimed(name, phase, hook);
  }

  /** Runs the stop hooks only: contributions stay, for requests that still run. */
  async stop({ name }: PluginInfo): Promise<void> {
    for (const hook of this.#loaded.get(name)?.hooks.stop.splice(0).reverse() ?? []) {
      const { log } = this.#stores();
      await this.#runTimed(name, 'stop', hook).catch((err) => log.error({ err, owner: name }, 'stopping failed'));
    }
  }

  /** An error, or a timeout of the hook, becomes a BootFailure with the name of the plugin and the phase. */
  async #runTimed(name: string, phase: TimedPhase, hook: () => Promise<void> | void): Promise<void> {
    const limit = this.#limits[phase];
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const late = () => reject(new BootFailure(name, phase, `it did not end within ${limit / 1000} s`));
    const timer = setTimeout(late, limit);
    try {
      await Promise.race([Promise.resolve().then(hook), expired]);
    } catch (error) {
      throw BootFailure.from(name, phase, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #orUnload(plugin: PluginInfo, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.unload(plugin);
      throw error;
    }
  }

  #holderOf({ name, version, core }: PluginInfo): GrantHolder {
    return {
      name,
      version,
      runtime: core ? 'internal' : 'full',
      isPlugin: true,
      asSystem() {
        throw fail('CAPABILITY_DENIED', 'a plugin acts without a user by host.asSystem');
      },
      attribute: (caller) => copyCallerForActingCode(caller, `${name}@${version}`),
      recordDenial: (what) => this.#stores().ledger.record('denied', name, what),
    };
  }
}
