import { authorities, type Capability } from '#kernel';
import type { RemoteCapabilityMethods } from '../broker/contract.ts';
import { BrokerRefusal } from '../broker/library.ts';
import type { SettingsDeclaration } from './contract.ts';
import { findSettingDeclaration } from './declaration.ts';
import type { SettingsOwnerRegistry } from './owners.ts';
import type { ReadSettingValue } from './reader.ts';

/** `host.settings`: the global settings of the package itself; a secret is its raw value. */
export interface OwnSettings {
  get(key: string): Promise<unknown>;
  isSecret(key: string): boolean;
}

declare module '#kernel' {
  interface HostMembers {
    readonly settings: OwnSettings;
  }
}

/** The pattern of declared keys. */
const KEY = /^[a-z][a-z0-9_]{0,63}$/;

/** Limit for a value for confined code, in bytes of JSON. */
const MAX_BYTES = 64 * 1024;

/**
 * The capability behind `host.settings` (conventions, "settings.get"). The grant is the map of settings that the manifest
 * declares; the values are those of the package with the holder's name.
 */
export const createSettingsCapability = (
  owners: Pick<SettingsOwnerRegistry, 'findByName'>,
  read: ReadSettingValue,
): Capability<SettingsDeclaration, OwnSettings> => ({
  name: 'settings',
  member: 'settings',
  // `parseSettingsDeclaration` has validated the grant when the manifest was read.
  schema: { type: 'object' },
  bind: (declaration, { name }) => ({
    get: async (key) => (owners.findByName(name) ? read(name, declaration, key) : null),
    isSecret: (key) => findSettingDeclaration(declaration, key)?.secret !== undefined,
  }),
  describe: (declaration) => {
    const keys = Object.keys(declaration).sort();
    const isSecret = (key: string) => findSettingDeclaration(declaration, key)?.secret !== undefined;
    return [
      ...authorities(
        'reads the settings',
        keys.filter((key) => !isSecret(key)),
        'its own',
      ),
      ...authorities('reads the settings', keys.filter(isSecret), 'its own secrets; confined code only by reference'),
      ...authorities(
        'shows users of the app',
        keys.filter((key) => isAppReadable(declaration, key)),
        'its own settings',
      ),
    ];
  },
  // A package that declares more settings of its own gets no more authority. A secret from a variable of the environment is more,
  // and so is showing an existing value to the app.
  widens: (before = {}, after) =>
    Object.keys(after).some(
      (key) =>
        (isFromConfiguration(after, key) && !isFromConfiguration(before, key)) ||
        (isAppReadable(after, key) && findSettingDeclaration(before, key)?.appReadable === false),
    ),
});

const isFromConfiguration = (declaration: SettingsDeclaration, key: string): boolean =>
  findSettingDeclaration(declaration, key)?.secret?.source === 'config';
const isAppReadable = (declaration: SettingsDeclaration, key: string): boolean =>
  findSettingDeclaration(declaration, key)?.appReadable === true;

/** `host.settings` of confined code. */
export const remoteSettingsMethods: RemoteCapabilityMethods = {
  capability: 'settings',
  methods: {
    get: {
      args: { type: 'array', items: [{ type: 'string' }], minItems: 1, maxItems: 1 },
      // The ledger shows texts in the form of declared keys only, never any other text of confined code.
      target: (key: string) => (KEY.test(key) ? key : 'another key'),
      async call(own: OwnSettings, { secrets }, key: string) {
        const value = await own.get(key);
        if (value === null) return null;
        if (own.isSecret(key)) return secrets.conceal(value as string);
        if (Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES)
          throw new BrokerRefusal('invalid_request', `The value is longer than ${MAX_BYTES} bytes.`);
        return value;
      },
    },
  },
};
