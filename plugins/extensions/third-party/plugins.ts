import { AsyncLocalStorage } from 'node:async_hooks';
import { BootFailure, Failure, type Log, type PackagesApi, type PluginInfo } from '#kernel';
import { assertNoDuplicatePluginClaims } from './contribution-conflicts.ts';
import { assertNotExtensionName, findThirdPartyPluginFolders } from './folders.ts';

/** One discovered third-party plugin with its state. */
export interface ThirdPartyPluginRecord {
  /** The folder's path if the package has no readable name. */
  readonly name: string;
  readonly version?: string;
  readonly folder: string;
  /** Absent if the manifest cannot be read. */
  readonly manifest?: PluginInfo['manifest'];
  readonly status: 'loaded' | 'failed';
  readonly failure?: BootFailure;
}

/** The plugins that a refresh added and removed, by name. */
export interface PluginChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Third-party plugins in this process: discovered in a folder, loaded with consent and unloaded while the service runs.
 */
export interface ThirdPartyPluginLifecycle {
  records(): readonly ThirdPartyPluginRecord[];
  /**
   * Reads the folder again: loads plugins that are new or failed before, unloads removed ones. A failing plugin does
   * not keep the others. Before `start` plugins are loaded without being started, so that core plugins start with their
   * contributions.
   */
  refresh(): Promise<PluginChanges>;
  /** Starts the plugins loaded so far; plugins loaded afterwards start at once. */
  start(): Promise<void>;
  /** Unloads a plugin and those that use its services. It stays unloaded until `refresh`. */
  unload(name: string): Promise<void>;
}

/** The phases that decide what a plugin may have, before its code runs. */
const PERMISSION_PHASES: ReadonlySet<string> = new Set(['validate', 'config', 'grant']);

interface Deps {
  readonly packages: PackagesApi;
  /** The folder with plugins; undefined for none. */
  readonly folder: string | undefined;
  /** Further folders, each of one package. */
  readonly others?: () => readonly string[];
  /** Why a plugin may not be loaded yet; undefined if it may. */
  readonly consent: (plugin: PluginInfo) => Promise<string | undefined>;
  /** Called with the folders of all plugins before any of them is loaded. */
  readonly onDiscovered?: (folders: readonly string[]) => void;
  /** Creates the tables that a plugin contributes, before its own hooks run. */
  readonly migrate?: () => Promise<void>;
  /** Called before a plugin is unloaded. */
  readonly beforeUnload?: (plugin: PluginInfo) => void;
  readonly log: Log;
}

/** Runs a refresh outside of the request that caused it: plugins must not inherit its asynchronous context. */
const withoutRequestContext = AsyncLocalStorage.snapshot();

export class ThirdPartyPlugins implements ThirdPartyPluginLifecycle {
  readonly #records = new Map<string, ThirdPartyPluginRecord>();
  readonly #deps: Deps;
  #isStarted = false;
  /** The queue of changes, which run one at a time. */
  #queue: Promise<void> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  records(): readonly ThirdPartyPluginRecord[] {
    return [...this.#records.values()];
  }

  refresh(): Promise<PluginChanges> {
    return this.#enqueue(() => this.#refresh());
  }

  start(): Promise<void> {
    return this.#enqueue(async () => {
      this.#isStarted = true;
      for (const plugin of this.#loaded()) await this.#attempt(plugin, () => this.#deps.packages.start(plugin));
    });
  }

  unload(name: string): Promise<void> {
    return this.#enqueue(() => this.#unload(name));
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(() => withoutRequestContext(work));
    this.#queue = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  #loaded(): readonly PluginInfo[] {
    return this.#deps.packages.loaded().filter(({ core }) => !core);
  }

  async #refresh(): Promise<PluginChanges> {
    const before = this.#loaded();
    await this.#update(await findThirdPartyPluginFolders(this.#deps.folder, this.#deps.others?.()));
    const after = this.#loaded();
    const missingIn = (all: readonly PluginInfo[]) => (one: PluginInfo) => !all.includes(one);
    const nameOf = ({ name }: PluginInfo) => name;
    return {
      added: after.filter(missingIn(before)).map(nameOf),
      removed: before.filter(missingIn(after)).map(nameOf),
    };
  }

  async #update(folders: readonly string[]): Promise<void> {
    this.#deps.onDiscovered?.(folders);
    for (const one of this.#loaded()) if (!folders.includes(one.folder)) await this.#unload(one.name);
    const kept = new Set(this.#loaded().map(({ folder }) => folder));
    for (const folder of this.#records.keys()) if (!kept.has(folder)) this.#records.delete(folder);
    let waiting = folders.filter((folder) => !kept.has(folder));
    // A plugin may need what another one provides: while a round loads some, the rest is tried again.
    for (let before = -1; waiting.length > 0 && waiting.length !== before; ) {
      before = waiting.length;
      const failed: string[] = [];
      for (const folder of waiting) if (!(await this.#loadFrom(folder))) failed.push(folder);
      waiting = failed;
    }
    for (const folder of waiting) {
      const { name, failure } = this.#records.get(folder) as ThirdPartyPluginRecord;
      this.#deps.log.error({ owner: name, phase: failure?.phase }, failure?.message);
    }
  }

  /** False if another attempt may succeed once other plugins are loaded. */
  async #loadFrom(folder: string): Promise<boolean> {
    let plugin: PluginInfo;
    try {
      plugin = await this.#deps.packages.inspect(folder);
      assertNotExtensionName(folder, plugin.name);
      assertNoDuplicatePluginClaims(plugin, this.#deps.packages.loaded());
    } catch (error) {
      const failure = BootFailure.from(folder, 'discover', error);
      this.#records.set(folder, { name: failure.plugin, folder, status: 'failed', failure });
      this.#recordDenial(failure);
      return false;
    }
    await this.#attempt(plugin, async () => {
      const refusal = await this.#deps.consent(plugin);
      if (refusal !== undefined) throw new BootFailure(plugin.name, 'grant', refusal);
      await this.#deps.packages.load(plugin, this.#deps.migrate);
      if (this.#isStarted) await this.#deps.packages.start(plugin);
    });
    return true;
  }

  /** Runs `work` and records the result. A failing plugin is removed with all it began; the others run. */
  async #attempt(plugin: PluginInfo, work: () => Promise<void>): Promise<void> {
    const { name, version, folder, manifest } = plugin;
    try {
      await work();
      this.#records.set(folder, { name, version, folder, manifest, status: 'loaded' });
    } catch (error) {
      const failure = BootFailure.from(name, 'start', error);
      this.#records.set(folder, { name, version, folder, manifest, status: 'failed', failure });
      this.#deps.log.error({ owner: name, phase: failure.phase }, failure.message);
      this.#recordDenial(failure);
    }
  }

  /** Enters a denial in the ledger if a plugin requested more than it may have, also if its code never ran. */
  #recordDenial({ plugin, phase, message, cause }: BootFailure): void {
    const isDenial = PERMISSION_PHASES.has(phase) || (cause instanceof Failure && cause.code === 'CAPABILITY_DENIED');
    if (isDenial) this.#deps.packages.record('denied', plugin, `${phase}: ${message.slice(0, 200)}`);
  }

  async #unload(name: string): Promise<void> {
    const plugin = this.#loaded().find((one) => one.name === name);
    if (!plugin) return;
    this.#deps.beforeUnload?.(plugin);
    const provided = Object.keys(plugin.manifest.provides ?? {});
    for (const other of this.#loaded()) {
      if (other !== plugin && provided.some((id) => other.manifest.uses?.[id])) await this.#unload(other.name);
    }
    await this.#deps.packages.unload(plugin);
    this.#records.delete(plugin.folder);
  }
}
