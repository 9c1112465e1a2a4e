import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AuditLine, auditReport } from '../capabilities/audit.ts';
import { type AnyCapability, capabilities, type Subject } from '../capabilities/capability.ts';
import { checkGrants } from '../capabilities/grant.ts';
import { createHost, type HookStore } from '../capabilities/host.ts';
import { Ledger } from '../capabilities/ledger.ts';
import { ownCapabilities } from '../capabilities/own.ts';
import { SubjectStore } from '../capabilities/subjects.ts';
import type { ConfigKey } from '../config/cast.ts';
import { parsedEnvironment } from '../config/parsed.ts';
import { type Environment, fileOf, processEnvironment, readConfig } from '../config/read.ts';
import { redactor } from '../config/redact.ts';
import { makeSystemCaller } from '../context.ts';
import { fail } from '../errors.ts';
import { type Deferral, Events } from '../events.ts';
import { FacetStore } from '../facets.ts';
import { createLog, type Log, type LogOptions } from '../log.ts';
import type { Plugin } from '../plugin.ts';
import { ServiceStore } from '../services.ts';
import { type Composition, type Discovered, discover } from './discover.ts';
import { BootFailure } from './failure.ts';
import { commands, effects, health, KERNEL_FACETS, type KernelCommand, middleware } from './kernel-facets.ts';
import { orderWithout } from './order.ts';
import { type HttpServer, serve } from './serve.ts';
import { TIMEOUTS, type Timeouts, timed } from './timed.ts';

/** Settings of the kernel itself; all others are declared by plugins. */
export const KERNEL_CONFIG = {
  HOST: { type: 'string', default: '0.0.0.0', about: 'address to listen on' },
  PORT: { type: 'integer', default: 8055, minimum: 0, maximum: 65535, about: 'port to listen on; 0 picks a free one' },
  LOG_LEVEL: { type: 'string', default: 'info', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
  LOG_STYLE: { type: 'string', default: 'pretty', enum: ['pretty', 'raw'], about: 'raw writes JSON lines' },
  SHUTDOWN_TIMEOUT: { type: 'duration', default: 10_000, about: 'how long running requests may take when stopping' },
  EXTENSIONS_PATH: { type: 'string', default: './extensions/local', about: 'folder of packages made by others' },
  SAFE_MODE: { type: 'boolean', default: false, about: 'loads no package made by others' },
  CONFIG_PATH: { type: 'string', default: '.env', about: 'file whose settings win over the environment' },
} as const satisfies Record<string, ConfigKey>;

/** Our own plugins say under `system` why they act without a user. */
const notHere = (): never => {
  throw fail('CAPABILITY_DENIED', 'a plugin acts without a user by host.asSystem');
};

interface Loaded {
  readonly plugin: Discovered;
  readonly hooks: HookStore;
}

/** A composition whose plugins have registered; it has touched nothing outside the process yet. */
export interface Kernel {
  readonly log: Log;
  readonly ledger: Ledger;
  readonly plugins: readonly Discovered[];
  readonly commands: ReadonlyMap<string, KernelCommand>;
  audit(): readonly AuditLine[];
  /** Runs every plugin's migrate hooks in order. */
  migrate(): Promise<void>;
  /** Runs every plugin's start hooks in order. */
  start(): Promise<void>;
  /** Opens the HTTP server. */
  listen(): Promise<HttpServer>;
  /** Drains, then undoes everything, last in first out. Safe to call twice and after a failed boot. */
  stop(): Promise<void>;
}

export interface BootOptions {
  readonly environment?: Environment;
  readonly log?: LogOptions['write'];
  /** How long one hook of a phase may take, in milliseconds. */
  readonly timeouts?: Partial<Timeouts>;
}

/** discover → validate → config → order → register. Throws a BootFailure that names the culprit. */
export async function boot(composition: Composition, options: BootOptions = {}): Promise<Kernel> {
  const environment = options.environment ?? processEnvironment();
  // Needed before manifests tell which settings there are.
  const early = { ...environment, ...fileOf(environment) };
  const extensions = early.EXTENSIONS_PATH ?? composition.local ?? KERNEL_CONFIG.EXTENSIONS_PATH.default;
  const isSafe = /^(true|1)$/i.test(early.SAFE_MODE?.trim() ?? '');
  const { found, refused } = await discover({ ...composition, local: isSafe ? undefined : extensions });

  const declared = new Map<string, { owner: string; key: ConfigKey }>();
  for (const [name, key] of Object.entries(KERNEL_CONFIG)) declared.set(name, { owner: 'kernel', key });
  for (const { name: owner, manifest } of found) {
    for (const [name, key] of Object.entries(manifest.config ?? {})) {
      if (!declared.has(name)) declared.set(name, { owner, key });
    }
  }
  const config = readConfig(environment, declared);
  const setting = <T>(name: keyof typeof KERNEL_CONFIG) => config.values.get(name) as T;
  const log = createLog({ level: setting('LOG_LEVEL'), style: setting('LOG_STYLE'), write: options.log });
  for (const { name, meant } of config.suspects)
    log.warn({ owner: 'kernel' }, `unknown setting ${name}: did you mean ${meant}?`);
  const plugins = orderWithout(found, refused);
  for (const failure of refused) log.error({ owner: failure.plugin, phase: failure.phase }, failure.message);

  const facets = new FacetStore();
  for (const one of KERNEL_FACETS) facets.define('kernel', one as never);
  const ledger = new Ledger();
  const events = new Events(log);
  const services = new ServiceStore();
  const configOf = (plugin: string) =>
    Object.freeze(
      Object.fromEntries(
        Object.keys(found.find((one) => one.name === plugin)?.manifest.config ?? {}).map((key) => [
          key,
          config.values.get(key),
        ]),
      ),
    );
  const removeOwner = (owner: string): void => {
    for (const store of [facets, events, services]) store.removeOwner(owner);
  };
  const subjects = new SubjectStore({
    capabilities: () => known(),
    ledger,
    asSystem: (who, reason) => {
      ledger.record('system', who, reason);
      return makeSystemCaller(who, reason);
    },
    // Never what a plugin of that name listens to.
    removeOwner: (owner) => events.removeOwner(owner, { core: false }),
    account: () => ({ may: audit(), did: ledger.entries() }),
    redact: redactor({ ...environment, ...config.file }),
    environment: () => parsedEnvironment(environment, config, declared),
  });
  for (const one of [...ownCapabilities({ log, events, services, ledger, config: configOf }), subjects.capability()]) {
    facets.contribute('kernel', capabilities, one, { names: [one.name] });
  }
  const known = (): ReadonlyMap<string, AnyCapability> => facets.read('kernel', capabilities as never);

  const loaded: Loaded[] = [];
  for (const plugin of plugins) {
    try {
      loaded.push(await register(plugin));
    } catch (error) {
      leaveOut(plugin, BootFailure.from(plugin.name, 'register', error));
    }
  }
  events.deferrals = () => facets.read('kernel', effects as never) as readonly Deferral[];

  /** Packages of others are left out of what runs; one of our own stops the boot. */
  function leaveOut(plugin: Discovered, failure: BootFailure): void {
    if (plugin.core) throw failure;
    removeOwner(plugin.name);
    log.error({ owner: plugin.name, phase: failure.phase }, failure.message);
  }

  async function register(plugin: Discovered): Promise<Loaded> {
    checkGrants(plugin, known(), facets);
    const entry = pathToFileURL(join(plugin.folder, plugin.manifest.path)).href;
    const module = (await import(entry)) as { default?: Plugin };
    if (typeof module.default?.register !== 'function') {
      throw new BootFailure(
        plugin.name,
        'register',
        `${plugin.manifest.path} has no default export made by definePlugin`,
      );
    }
    const hooks: HookStore = { migrate: [], start: [], stop: [] };
    const subject: Subject = { name: plugin.name, version: plugin.version, runtime: 'internal', asSystem: notHere };
    const host = createHost(plugin, subject, { facets, ledger, capabilities: known }, hooks);
    const result: unknown = module.default.register(host);
    if (result instanceof Promise) throw new BootFailure(plugin.name, 'register', 'register must be synchronous');
    return { plugin, hooks };
  }

  const audit = (): readonly AuditLine[] =>
    [
      ...auditReport(
        loaded.map(({ plugin }) => ({ plugin, runtime: 'internal' as const })),
        known(),
        (id) => facets.definition(id),
      ),
      ...subjects.lines(),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));

  const limits = { ...TIMEOUTS, ...options.timeouts };
  const stopping: (() => Promise<void>)[] = [];
  let stopped: Promise<void> | undefined;
  const undo = async ({ plugin, hooks }: Loaded) => {
    for (const hook of hooks.stop.splice(0).reverse()) {
      await timed(plugin.name, 'stop', hook, limits).catch((error) =>
        log.error({ err: error, owner: plugin.name }, 'stopping failed'),
      );
    }
  };
  const run = async (phase: 'migrate' | 'start') => {
    for (const one of [...loaded]) {
      const { plugin, hooks } = one;
      // What a phase began must be undone even if it fails half-way, so this is in place first.
      if (phase === 'migrate') stopping.push(() => undo(one));
      try {
        for (const hook of hooks[phase]) await timed(plugin.name, phase, hook, limits);
      } catch (error) {
        leaveOut(plugin, error as BootFailure);
        loaded.splice(loaded.indexOf(one), 1);
        await undo(one);
      }
    }
  };

  return {
    log,
    ledger,
    get plugins() {
      return loaded.map(({ plugin }) => plugin);
    },
    commands: facets.read('kernel', commands as never),
    audit,
    migrate: () => run('migrate'),
    start: () => run('start'),
    async listen() {
      const server = await serve({
        host: setting('HOST'),
        port: setting('PORT'),
        middleware: facets.read('kernel', middleware as never),
        health: facets.read('kernel', health as never),
        log,
      });
      const tell = (event: string) =>
        events.action([event], { caller: makeSystemCaller('kernel', event), server: server.server });
      stopping.push(async () => {
        tell('server.stop');
        await server.drain(setting('SHUTDOWN_TIMEOUT'));
      });
      tell('server.start');
      return server;
    },
    stop() {
      stopped ??= (async () => {
        for (const step of stopping.reverse()) await step();
      })();
      return stopped;
    },
  };
}
