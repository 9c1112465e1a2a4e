import { type Caller, type CallerClient, mintSystemCaller } from '../caller.ts';
import type { ConfigKey } from '../config/cast.ts';
import type { SettingsStore } from '../config/settings.ts';
import type { Log } from '../log.ts';
import { closedObjectSchema, manifestConfigSchema, nonEmptyListSchema } from '../manifest/schema.ts';
import type { InjectedServices, ServiceKey, ServiceStore } from '../services.ts';
import { authorities, type Capability, listsWiden } from './capability.ts';
import type { Ledger } from './ledger.ts';

/** `host.provide` and `host.use`. @throws CAPABILITY_DENIED for a service that the manifest does not list. */
export interface ServicesApi {
  provide<T>(ref: ServiceKey<T>, value: T): void;
  use<Refs extends Record<string, ServiceKey<unknown>>>(refs: Refs): InjectedServices<Refs>;
}

/** Returns a caller without a user's permissions, with the client that caused it, and counts it. @throws CAPABILITY_DENIED for an undeclared reason. */
export type AsSystem = (reason: string, client?: CallerClient) => Caller;

/** Names of the capabilities that the kernel defines. Every other one is defined by the plugin that owns its resource. */
export const KERNEL_CAPABILITIES = ['config', 'log', 'events', 'services', 'system', 'identity', 'native', 'packages'];

const string = { type: 'string', minLength: 1 } as const;
const strings = { type: 'array', items: string } as const;

type ConfigGrant = Readonly<Record<string, ConfigKey>> & { readonly shared?: readonly string[] };
type ConfigApi = Readonly<Record<string, unknown>>;

const keysOf = ({ shared = [], ...own }: ConfigGrant): readonly string[] => [...Object.keys(own), ...shared];

export const configCapability = (settings: SettingsStore, ledger: Ledger): Capability<ConfigGrant, ConfigApi> => ({
  name: 'config',
  member: 'config',
  schema: manifestConfigSchema,
  bind: (_grant, { name }) =>
    new Proxy(settings.viewOf(name), {
      get(values, key) {
        // `await` and JSON.stringify ask every object for `then` and `toJSON`.
        const isSetting = typeof key === 'string' && key !== 'then' && key !== 'toJSON';
        if (isSetting && !Object.hasOwn(values, key)) throw ledger.deny('config', name, `read the setting ${key}`);
        return Reflect.get(values, key);
      },
    }),
  describe: ({ shared, ...own }) => [
    ...authorities('reads the settings', Object.keys(own)),
    ...authorities('reads the settings', shared, 'of other plugins'),
  ],
  widens: (before, after) => keysOf(after).some((key) => !before || !keysOf(before).includes(key)),
});

export const logCapability = (log: Log): Capability<true, Log> => ({
  name: 'log',
  member: 'log',
  schema: { type: 'boolean' },
  bind: (_grant, { name }) => log.child({ owner: name }),
  describe: () => authorities('logs', ['']),
  widens: (before) => before === undefined,
});

type ServicesGrant = Readonly<Record<'provides' | 'uses', Readonly<Record<string, string>>>>;

export const servicesCapability = (services: ServiceStore, ledger: Ledger): Capability<ServicesGrant, ServicesApi> => ({
  name: 'services',
  schema: { type: 'object' },
  bind: ({ provides, uses }, { name, runtime }) => {
    const user = { name, core: runtime === 'internal', deny: (what: string) => ledger.deny('services', name, what) };
    const use = ({ id }: ServiceKey<unknown>): unknown => {
      const range = uses[id];
      if (range === undefined) throw user.deny(`use ${id}`);
      return services.get(user, id, range);
    };
    return {
      provide(ref, value) {
        if (provides[ref.id] !== ref.version) throw user.deny(`provide ${ref.id} ${ref.version}`);
        services.provide(name, ref, value);
      },
      use: (refs) => Object.fromEntries(Object.entries(refs).map(([key, ref]) => [key, use(ref)])) as never,
    };
  },
  describe: ({ provides, uses }) => [
    ...authorities('provides', Object.keys(provides)),
    ...authorities('uses', Object.keys(uses)),
  ],
  widens: (before, after) => Object.keys(after.uses).some((id) => !before || !(id in before.uses)),
});

export const systemCapability = (ledger: Ledger): Capability<{ reasons: readonly string[] }, AsSystem> => ({
  name: 'system',
  member: 'asSystem',
  schema: closedObjectSchema({ reasons: nonEmptyListSchema(string) }),
  bind:
    ({ reasons }, { name, version }) =>
    (reason, client) => {
      if (!reasons.includes(reason)) throw ledger.deny('system', name, `act without a user for "${reason}"`);
      ledger.record('system', name, reason);
      return mintSystemCaller(`${name}@${version}`, reason, client);
    },
  describe: ({ reasons }) => reasons.flatMap((reason) => authorities('runs as system', [''], reason)),
  widens: listsWiden,
});

export const importCapability: Capability<{ modules?: readonly string[]; packages?: readonly string[] }, undefined> = {
  name: 'native',
  schema: closedObjectSchema({ modules: strings, packages: strings }, []),
  bind: () => undefined,
  describe: ({ modules = [], packages = [] }) =>
    authorities('loads', [...modules.map((name) => `node:${name}`), ...packages].sort()),
  widens: listsWiden,
};
