import type { Log } from '#kernel';
import { MASK } from '../access/contract.ts';
import type { SecretStore } from '../secrets/contract.ts';
import type { SettingDeclaration } from './contract.ts';
import type { SettingLocation, StoredSetting } from './store.ts';

export type SettingValue = string | number | boolean;

export interface SettingValues {
  /** What is stored for a value. INVALID_CONFIG for a secret where there is no key to seal it with. */
  serialize(place: SettingLocation, declared: SettingDeclaration, value: SettingValue): string;
  /** The value where it is of the declared type, secrets opened; null otherwise. */
  reveal(setting: StoredSetting, declared: SettingDeclaration): SettingValue | null;
  /** What an admin sees: secrets masked. Undefined where it cannot be read, which is logged. */
  mask(setting: StoredSetting, isSecret: boolean): { readonly value: unknown } | undefined;
}

/** An envelope counts for its place alone: copied to another row it stays closed. */
const createEnvelopeKind = ({ extension, scope, scope_key, key }: SettingLocation): string =>
  `extension-setting:${JSON.stringify([extension, scope, scope_key, key])}`;

export const isOfType = (value: unknown, type: SettingDeclaration['type']): value is SettingValue =>
  type === 'number' ? Number.isFinite(value) : typeof value === type;

export function createSettingValues(secrets: SecretStore, log: Pick<Log, 'warn'>): SettingValues {
  /** Places that were complained of and have not been readable since. */
  const warned = new Set<string>();
  const warnOnce = (place: SettingLocation, what: string): void => {
    const kind = createEnvelopeKind(place);
    if (warned.has(kind)) return;
    warned.add(kind);
    log.warn(pickLocation(place), what);
  };

  function openSecret(setting: StoredSetting): string | null {
    // A value that was stored in the clear, before its key became a secret, has to be entered again.
    const text = secrets.isSealed(setting.value) ? secrets.open(createEnvelopeKind(setting), setting.value) : undefined;
    if (text === undefined) warnOnce(setting, 'a stored secret cannot be opened: it must be entered again');
    else warned.delete(createEnvelopeKind(setting));
    return text ?? null;
  }

  return {
    serialize: (place, { secret }, value) =>
      secret ? secrets.seal(createEnvelopeKind(place), value as string) : JSON.stringify(value),
    reveal(setting, { type, secret }) {
      if (secret) return openSecret(setting);
      if (secrets.isSealed(setting.value)) return null;
      const value = parseJson(setting.value)?.value;
      return isOfType(value, type) ? value : null;
    },
    mask(setting, isSecret) {
      if (isSecret || secrets.isSealed(setting.value)) return { value: MASK };
      const read = parseJson(setting.value);
      if (!read) warnOnce(setting, 'a stored setting cannot be read and is left out');
      return read;
    },
  };
}

const pickLocation = ({ extension, scope, scope_key, key }: SettingLocation): SettingLocation => ({
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
