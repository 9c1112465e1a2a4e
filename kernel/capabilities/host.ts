import { fail } from '../errors.ts';
import type { Facet, FacetStore } from '../facets.ts';
import type { Log } from '../log.ts';
import type { PluginPackage } from '../manifest/validate.ts';
import type { AnyCapability, Subject } from './capability.ts';
import { grantsOf } from './grant.ts';
import type { Ledger } from './ledger.ts';
import type { AsSystem, EventsApi, ServicesApi } from './own.ts';
import type { Subjects } from './subjects.ts';

type Hook = () => Promise<void> | void;

/**
 * Members that capabilities add. The plugin that defines a capability augments this interface:
 * `declare module '#kernel' { interface HostMembers { readonly db: Db } }`.
 */
export interface HostMembers {
  readonly log: Log;
  readonly events: EventsApi;
  readonly asSystem: AsSystem;
  readonly subjects: Subjects;
}

/** What a plugin is given: exactly what its manifest declares, and nothing else to hold on to. */
export interface Host<Config = Record<never, never>> extends HostMembers, ServicesApi {
  readonly config: Readonly<Config>;
  /** Opens a contribution point that the manifest lists under `facets`. */
  define<T, R>(facet: Facet<T, R>): void;
  /** Adds to a facet that the manifest lists under `contributes`. */
  contribute<T, R>(facet: Facet<T, R>, value: T): void;
  /** Reads a facet this plugin defines. Complete from the migrate phase on. */
  read<T, R>(facet: Facet<T, R>): R;
  onMigrate(hook: Hook): void;
  onStart(hook: Hook): void;
  /** Undone last-in first-out when the process stops or the plugin is unloaded. */
  onStop(hook: Hook): void;
}

export interface HookStore {
  readonly migrate: Hook[];
  readonly start: Hook[];
  readonly stop: Hook[];
}

export interface HostParts {
  readonly facets: FacetStore;
  readonly ledger: Ledger;
  readonly capabilities: () => ReadonlyMap<string, AnyCapability>;
}

/** Builds the `host` of one plugin. A member whose capability is not granted throws a named error when touched. */
export function createHost(plugin: PluginPackage, subject: Subject, parts: HostParts, hooks: HookStore): Host {
  const { manifest, name } = plugin;
  const granted = grantsOf(plugin);
  const deny = (capability: string, what: string) => {
    parts.ledger.record('denied', name, `${capability}: ${what}`);
    return fail('CAPABILITY_DENIED', `${name} may not ${what}: its manifest does not grant it (${capability})`);
  };
  const bound = new Map<string, unknown>();
  const bind = (capability: AnyCapability): unknown => {
    if (!bound.has(capability.name)) bound.set(capability.name, capability.bind(granted.get(capability.name), subject));
    return bound.get(capability.name);
  };
  const servicesApi = (): ServicesApi => bind(parts.capabilities().get('services') as AnyCapability) as ServicesApi;

  const base = {
    provide: (ref: never, value: never) => servicesApi().provide(ref, value),
    use: (refs: never) => servicesApi().use(refs),
    define(facet: Facet<never, unknown>) {
      if (!manifest.facets?.includes(facet.id)) throw deny('facets', `define the facet ${facet.id}`);
      parts.facets.define(name, facet);
    },
    contribute(facet: Facet<unknown, unknown>, value: unknown) {
      const declared = manifest.contributes?.[facet.id];
      if (!declared) throw deny('contributes', `contribute to ${facet.id}`);
      parts.facets.contribute(name, facet, value, declared);
    },
    read: (facet: Facet<never, unknown>) => parts.facets.read(name, facet),
    onMigrate: (hook: Hook) => void hooks.migrate.push(hook),
    onStart: (hook: Hook) => void hooks.start.push(hook),
    onStop: (hook: Hook) => void hooks.stop.push(hook),
  };

  return new Proxy(base, {
    get(target, key) {
      if (typeof key !== 'string' || key in target) return Reflect.get(target, key);
      if (key === 'then') return undefined;
      const capability = [...parts.capabilities().values()].find((one) => one.member === key);
      if (!capability) throw deny(key, `use host.${key}, which no capability provides`);
      if (!granted.has(capability.name)) throw deny(capability.name, `use host.${key}`);
      return bind(capability);
    },
    set: () => false,
  }) as unknown as Host;
}
