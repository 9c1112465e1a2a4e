import type { Facet } from '../facets.ts';
import type { PluginInfo } from '../lifecycle/discover.ts';
import type { PluginStores } from '../lifecycle/plugin-registration-stores.ts';
import type { Log } from '../log.ts';
import type { AnyCapability, GrantHolder } from './capability.ts';
import type { EventsApi } from './events.ts';
import { requestedGrants } from './grant.ts';
import type { IdentityApi } from './identity.ts';
import type { AsSystem, ServicesApi } from './kernel-capabilities.ts';
import type { PackagesApi } from './packages.ts';

type Hook = () => Promise<void> | void;
export type PluginHooks = Readonly<Record<'migrate' | 'start' | 'stop', Hook[]>>;

/** What capabilities add; their plugins augment it: `declare module '#kernel' { interface HostMembers { … } }`. */
export interface HostMembers {
  readonly log: Log;
  readonly events: EventsApi;
  readonly asSystem: AsSystem;
  readonly identity: IdentityApi;
  readonly packages: PackagesApi;
}

/** The object a plugin registers with: it has what its manifest declares. @throws CAPABILITY_DENIED for everything else. */
export interface Host<Config = Record<never, never>> extends HostMembers, ServicesApi {
  readonly config: Readonly<Config>;
  /** Defines a facet that the manifest lists under `facets`. @throws CAPABILITY_DENIED for another one. */
  define<T, R>(facet: Facet<T, R>): void;
  /**
   * Adds to a facet that the manifest lists under `contributes`, and returns the function that removes the contribution. A facet
   * of a higher floor is named by its id: `host.contribute<ContributionTo<typeof graphqlFields>>('graphql.fields', field)`.
   */
  contribute<T, R>(facet: Facet<T, R>, value: T): () => void;
  contribute<T>(facetId: string, value: T): () => void;
  /** Reads a facet that this plugin defines: complete from the migrate phase on; plugins that load or unload later change it. */
  read<T, R>(facet: Facet<T, R>): R;
  /** Calls `handle` after each later change of a facet that this plugin defines. Returns the function that ends this. */
  watch<T, R>(facet: Facet<T, R>, handle: () => void): () => void;
  /** Runs before any plugin starts: for schema changes. At most 300 s; a failure stops the boot. */
  onMigrate(hook: Hook): void;
  /** Runs before the server listens. At most 60 s; a failure stops the boot. */
  onStart(hook: Hook): void;
  /** Runs last in, first out when the process stops or the plugin is unloaded: at most 10 s, failures are logged. */
  onStop(hook: Hook): void;
}

type HostParts = Pick<PluginStores, 'facets' | 'ledger' | 'knownCapabilities'>;

/** Builds the `host` of one plugin. A member whose capability is not granted throws CAPABILITY_DENIED on access. */
export function createPluginHost(plugin: PluginInfo, subject: GrantHolder, parts: HostParts, hooks: PluginHooks): Host {
  const { name, core } = plugin;
  const { knownCapabilities, ledger } = parts;
  const granted = requestedGrants(plugin);
  const bound = new Map<string, unknown>();
  const bind = (capability: AnyCapability): unknown => {
    if (!bound.has(capability.name)) bound.set(capability.name, capability.bind(granted.get(capability.name), subject));
    return bound.get(capability.name);
  };
  const services = (): ServicesApi => bind(knownCapabilities().get('services') as AnyCapability) as ServicesApi;
  const base = {
    provide: (ref: never, value: never) => services().provide(ref, value),
    use: (refs: never) => services().use(refs),
    ...createFacetMembers(plugin, parts),
    onMigrate: (hook: Hook) => void hooks.migrate.push(hook),
    onStart: (hook: Hook) => void hooks.start.push(hook),
    onStop: (hook: Hook) => void hooks.stop.push(hook),
  };

  return new Proxy(base, {
    get(target, key) {
      if (typeof key !== 'string' || key in target) return Reflect.get(target, key);
      if (key === 'then') return undefined;
      const capability = [...knownCapabilities().values()].find((one) => one.member === key);
      if (!capability) throw ledger.deny(key, name, `use host.${key}, which no capability provides`);
      if (!granted.has(capability.name)) throw ledger.deny(capability.name, name, `use host.${key}`);
      if (capability.coreOnly && !core)
        throw ledger.deny(capability.name, name, `use host.${key}, which is open to core plugins only`);
      return bind(capability);
    },
    set: (_target, key) => {
      throw ledger.deny('host', name, `set host.${String(key)}`);
    },
  }) as unknown as Host;
}

function createFacetMembers({ name, core, manifest }: PluginInfo, { facets, ledger }: HostParts) {
  const assertOwn = (verb: string, id: string) => {
    if (!manifest.facets?.includes(id)) throw ledger.deny('facets', name, `${verb} the facet ${id}`);
  };
  return {
    define(facet: Facet<never, unknown>) {
      assertOwn('define', facet.id);
      facets.define(name, facet);
    },
    contribute(target: Facet<unknown, unknown> | string, value: unknown) {
      const id = typeof target === 'string' ? target : target.id;
      const declared = manifest.contributes?.[id];
      if (!declared) throw ledger.deny('contributes', name, `contribute to ${id}`);
      return facets.contribute(id, value, { name, core, declared });
    },
    read(facet: Facet<never, unknown>) {
      assertOwn('read', facet.id);
      return facets.read(name, facet);
    },
    watch(facet: Facet<never, unknown>, handle: () => void) {
      assertOwn('read', facet.id);
      return facets.watch(name, facet, handle);
    },
  };
}
