import type { Log } from '#kernel';
import { CONCEALED_VALUE_MASK } from '../access/contract.ts';
import type { SecretCipher } from '../secrets/contract.ts';
import type { SettingDeclaration } from './contract.ts';
import type { SettingRowIdentity, StoredSetting } from './store.ts';

export type SettingValue = string | number | boolean;

export interface SettingValueCodec {
  /** The stored text of a value. @throws INVALID_CONFIG for a secret without SECRETS_ENCRYPTION_KEY. */
  serialize(location: SettingRowIdentity, declared: SettingDeclaration, value: SettingValue): string;
  /** The value, decrypted if it is a secret; null if it is not of the declared type. */
  reveal(setting: StoredSetting, declared: SettingDeclaration): SettingValue | null;
  /** The value for admins, secrets masked. Undefined if it cannot be read, which is logged. */
  mask(setting: StoredSetting, isSecret: boolean): { readonly value: unknown } | undefined;
}

/** The kind of an envelope contains its location, so that an envelope copied to another row cannot be opened. */
const createEnvelopeKind = ({ extension, scope, scope_key, key }: SettingRowIdentity): string =>
  `extension-setting:${JSON.stringify([extension, scope, scope_key, key])}`;

export const isOfSettingType = (value: unknown, type: SettingDeclaration['type']): value is SettingValue =>
  type === 'number' ? Number.isFinite(value) : typeof value === type;

export function createSettingValueCodec(secrets: SecretCipher, log: Pick<Log, 'warn'>): SettingValueCodec {
  /** Locations with a logged warning that have not been readable since. */
  const warned = new Set<string>();
  const warnOnce = (location: SettingRowIdentity, what: string): void => {
    const kind = createEnvelopeKind(location);
    if (warned.has(kind)) return;
    warned.add(kind);
    log.warn(pickLocation(location), what);
  };

  function openSecret(setting: StoredSetting): string | null {
    // A value that was stored in the clear, before its key became a secret, has to be entered again.
    const text = secrets.isSealed(setting.value) ? secrets.open(createEnvelopeKind(setting), setting.value) : undefined;
    if (text === undefined) warnOnce(setting, 'a stored secret cannot be opened: it must be entered again');
    else warned.delete(createEnvelopeKind(setting));
    return text ?? null;
  }

  return {
    serialize: (location, { secret }, value) =>
      secret ? secrets.seal(createEnvelopeKind(location), value as string) : JSON.stringify(value),
    reveal(setting, { type, secret }) {
      if (secret) return openSecret(setting);
      if (secrets.isSealed(setting.value)) return null;
      const value = parseJson(setting.value)?.value;
      return isOfSettingType(value, type) ? value : null;
    },
    mask(setting, isSecret) {
      if (isSecret || secrets.isSealed(setting.value)) return { value: CONCEALED_VALUE_MASK };
      const read = parseJson(setting.value);
      if (!read) warnOnce(setting, 'a stored setting cannot be read and is left out');
      return read;
    },
  };
}

const pickLocation = ({ extension, scope, scope_key, key }: SettingRowIdentity): SettingRowIdentity => ({
  extension,
  scope,
  scope_key,
  key,
});

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
