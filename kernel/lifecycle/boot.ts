import { callerForgeryLedgers, mintSystemCaller } from '../caller.ts';
import { type AuditLine, assertValidManifestContributions } from '../capabilities/grant.ts';
import type { Ledger } from '../capabilities/ledger.ts';
import type { ConfigKey } from '../config/cast.ts';
import { type Environment, processEnvironment } from '../config/environment.ts';
import { SettingsStore } from '../config/settings.ts';
import { createLog, type Log, type LogOptions } from '../log.ts';
import { assertNoSettingsProblems } from './boot-failure.ts';
import { type CorePluginFolders, discoverCorePlugins, type PluginInfo } from './discover.ts';
import { commands, type KernelCommand, middleware, upgrade } from './kernel-facets.ts';
import { type PluginHookTimeouts, PluginLoader } from './plugin-loader.ts';
import { sortPlugins } from './plugin-order.ts';
import { createPluginStores, type PluginStores } from './plugin-registration-stores.ts';
import { type HttpServer, serve } from './serve.ts';

/** Settings of the kernel itself; all others are declared by plugins. */
export const KERNEL_CONFIG = {
  HOST: { type: 'string', default: '0.0.0.0', about: 'address to listen on' },
  PORT: { type: 'integer', default: 8055, minimum: 0, maximum: 65535, about: 'port to listen on; 0 picks a free one' },
  LOG_LEVEL: { type: 'string', default: 'info', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
  LOG_STYLE: { type: 'string', default: 'pretty', enum: ['pretty', 'raw'], about: 'raw writes JSON lines' },
  UNIX_SOCKET_PATH: { type: 'string', about: 'path of a socket to listen on, in place of HOST and PORT' },
  SERVER_HEADERS_TIMEOUT: { type: 'duration', default: 60_000, about: 'how long the headers of a request may take' },
  SERVER_KEEP_ALIVE_TIMEOUT: { type: 'duration', default: 5000, about: 'how long a connection may wait for a request' },
  SERVER_SHUTDOWN_DELAY: { type: 'duration', default: 1000, about: 'how long a stopping process still takes requests' },
  SERVER_SHUTDOWN_TIMEOUT: { type: 'duration', default: 10_000, about: 'how long requests may run when stopping' },
  PUBLIC_URL: { type: 'string', default: '/', about: 'address under which clients reach the service' },
  DATA_PATH: { type: 'string', default: './data', about: 'folder of everything the service keeps on disk' },
  SAFE_MODE: { type: 'boolean', default: false, about: 'loads no third-party package' },
  CONFIG_PATH: { type: 'string', default: '.env', about: 'file whose settings win over the environment' },
} as const satisfies Record<string, ConfigKey>;

/** A composition whose core plugins have registered. It has no effect outside of the process yet. */
export interface Kernel {
  readonly log: Log;
  readonly ledger: Ledger;
  readonly settings: SettingsStore;
  readonly plugins: readonly PluginInfo[];
  commands(): ReadonlyMap<string, KernelCommand>;
  audit(): readonly AuditLine[];
  /** Counts the facets, contributions and listeners of one plugin: tests assert that an unloaded plugin leaves none. */
  countOf(owner: string): { readonly facets: number; readonly listeners: number };
  /** Runs every plugin's migrate hooks in order. */
  migrate(): Promise<void>;
  /** Runs every plugin's start hooks in order. */
  start(): Promise<void>;
  /** Opens the HTTP server. */
  listen(): Promise<HttpServer>;
  /** Drains the server, then runs all stop hooks, last in first out. A second call waits for the first. */
  stop(): Promise<void>;
}

export interface BootOptions {
  readonly environment?: Environment;
  /** Takes the lines of the log, as JSON, instead of standard output. */
  readonly log?: LogOptions['write'];
  /** Takes the lines of the log, as JSON, where LOG_STYLE is `pretty`; without it they are written as they are. */
  readonly prettyLog?: LogOptions['pretty'];
  /** The pino hook `logMethod`, which may leave lines out. */
  readonly logMethod?: LogOptions['logMethod'];
  /** How long one hook of a phase may take, in milliseconds. */
  readonly timeouts?: Partial<PluginHookTimeouts>;
}

/** Discover → validate → config → grant → order → register of core plugins. @throws BootFailure that names the plugin. */
export async function boot(composition: CorePluginFolders, options: BootOptions = {}): Promise<Kernel> {
  const settings = new SettingsStore(options.environment ?? processEnvironment());
  const found = await discoverCorePlugins(composition.plugins);
  declareSettings(settings, found);
  const lines = { write: options.log, pretty: options.prettyLog, logMethod: options.logMethod };
  const log = createLog({ level: settings.value('LOG_LEVEL'), style: settings.value('LOG_STYLE'), ...lines });
  const loader = new PluginLoader(() => stores, options.timeouts);
  const stores: PluginStores = createPluginStores(settings, log, loader);
  for (const plugin of sortPlugins(found)) await loader.register(plugin);
  for (const plugin of found) assertValidManifestContributions(plugin, stores.facets);
  return createKernel(stores, loader);
}

/** Declares the settings of the kernel and of all core plugins, and reports all invalid values together. */
function declareSettings(settings: SettingsStore, found: readonly PluginInfo[]): void {
  const owners = [{ name: 'kernel', manifest: { config: KERNEL_CONFIG } }, ...found];
  const wrong = owners.flatMap(({ name, manifest }) => settings.declare(name, manifest.config));
  assertNoSettingsProblems('kernel', wrong);
  for (const { name } of found) settings.assertShared(name);
}

function createKernel({ facets, events, settings, log, ledger, audit }: PluginStores, loader: PluginLoader): Kernel {
  const core = loader.loaded();
  let server: HttpServer | undefined;
  let stopped: Promise<void> | undefined;
  const announce = (event: string) => events.action([event], { caller: mintSystemCaller('kernel', event) });
  facets.watch('kernel', upgrade as never, () => server?.updateUpgrades());
  const read = <R>(facet: { combine(all: never): R }) => facets.read<R>('kernel', facet as never);
  const run = async (phase: 'migrate' | 'start') => {
    for (const plugin of core) await loader.run(phase, plugin);
  };
  const stop = async () => {
    // Listeners run before the first connection is refused.
    if (server) announce('server.stop');
    await server?.drain(settings.value('SERVER_SHUTDOWN_DELAY'), settings.value('SERVER_SHUTDOWN_TIMEOUT'));
    for (const plugin of [...loader.loaded()].reverse()) await loader.stop(plugin);
    callerForgeryLedgers.delete(ledger);
  };
  return {
    log,
    ledger,
    settings,
    audit,
    get plugins() {
      return loader.loaded();
    },
    commands: () => read(commands),
    countOf: (owner) => ({ facets: facets.countOf(owner), listeners: events.countOf(owner) }),
    migrate: () => run('migrate'),
    start: () => run('start'),
    async listen() {
      server = await serve({ settings, log, middleware: () => read(middleware), upgrades: () => read(upgrade) });
      announce('server.start');
      return server;
    },
    stop: () => (stopped ??= stop()),
  };
}
