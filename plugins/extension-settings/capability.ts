import { type Capability, Refusal } from '#kernel';
import type { Declaration } from './contract.ts';
import { declaredIn } from './declaration.ts';
import type { Owners } from './owners.ts';
import type { ReadValue } from './reader.ts';

/** `host.settings`: a package's own global settings, raw. */
export interface OwnSettings {
  get(key: string): Promise<unknown>;
  isSecret(key: string): boolean;
}

declare module '#kernel' {
  interface HostMembers {
    readonly settings: OwnSettings;
  }
}

/** As keys are declared. */
const KEY = /^[a-z][a-z0-9_]{0,63}$/;

/** Bytes of the longest value that crosses to confined code, as JSON. */
const LONGEST = 64 * 1024;

/** Conventions, "settings.get". The grant is the declared map; the subject's name is whose settings they are. */
export const settingsCapability = (
  owners: Pick<Owners, 'named'>,
  read: ReadValue,
): Capability<Declaration, OwnSettings> => ({
  name: 'settings',
  member: 'settings',
  // What it must look like was checked when the manifest was read.
  schema: { type: 'object' },
  bind: (declaration, { name }) => ({
    get: async (key) => (owners.named(name) ? read(name, declaration, key) : null),
    isSecret: (key) => declaredIn(declaration, key)?.secret !== undefined,
  }),
  remote: {
    get: {
      args: { type: 'array', items: [{ type: 'string' }], minItems: 1, maxItems: 1 },
      // Only what is declared: anything else would be a text of the caller's in the account.
      target: (key: string) => (KEY.test(key) ? key : 'another key'),
      async call(own, { secrets }, key: string) {
        const value = await own.get(key);
        if (value === null) return null;
        if (own.isSecret(key)) return secrets.conceal(value as string);
        if (Buffer.byteLength(JSON.stringify(value)) > LONGEST)
          throw new Refusal('invalid_request', `The value is longer than ${LONGEST} bytes.`);
        return value;
      },
    },
  },
  describe: (declaration) => {
    const keys = Object.keys(declaration).sort();
    const secrets = keys.filter((key) => declaredIn(declaration, key)?.secret);
    const plain = keys.filter((key) => !secrets.includes(key));
    const shown = keys.filter((key) => isForApp(declaration, key));
    const parts = [
      ...(plain.length > 0 ? [plain.join(', ')] : []),
      ...(secrets.length > 0 ? [`the secrets ${secrets.join(', ')} (confined code only by reference)`] : []),
    ];
    return [
      ...(keys.length > 0 ? [`reads its own settings: ${parts.join('; ')}`] : []),
      ...(shown.length > 0 ? [`lets users of the app read its settings ${shown.join(', ')}`] : []),
    ];
  },
  // Its own values are nobody else's; a variable of the environment might be, and a value that was set for it alone is.
  widens: (before = {}, after) =>
    Object.keys(after).some(
      (key) =>
        (isOfConfig(after, key) && !isOfConfig(before, key)) ||
        (isForApp(after, key) && declaredIn(before, key)?.appReadable === false),
    ),
});

const isOfConfig = (declaration: Declaration, key: string): boolean =>
  declaredIn(declaration, key)?.secret?.source === 'config';
const isForApp = (declaration: Declaration, key: string): boolean => declaredIn(declaration, key)?.appReadable === true;
