import type { Log } from '#kernel';
import { MASK } from '../access/contract.ts';
import type { SecretStore } from '../secrets/contract.ts';
import type { SettingDeclaration } from './contract.ts';
import type { Place, StoredSetting } from './store.ts';

export type SettingValue = string | number | boolean;

export interface Values {
  /** What is stored for a value. INVALID_CONFIG for a secret where there is no key to seal it with. */
  stored(place: Place, declared: SettingDeclaration, value: SettingValue): string;
  /** The value where it is of the declared type, secrets opened; null otherwise. */
  reveal(setting: StoredSetting, declared: SettingDeclaration): SettingValue | null;
  /** What an admin sees: secrets masked. Undefined where it cannot be read, which is logged. */
  masked(setting: StoredSetting, isSecret: boolean): { readonly value: unknown } | undefined;
}

/** An envelope counts for its place alone: copied to another row it stays closed. */
const kindOf = ({ extension, scope, scope_key, key }: Place): string =>
  `extension-setting:${JSON.stringify([extension, scope, scope_key, key])}`;

export const isOfType = (value: unknown, type: SettingDeclaration['type']): value is SettingValue =>
  type === 'number' ? Number.isFinite(value) : typeof value === type;

export function createValues(secrets: SecretStore, log: Pick<Log, 'warn'>): Values {
  /** Places that were complained of and have not been readable since. */
  const said = new Set<string>();
  const complain = (place: Place, what: string): void => {
    const kind = kindOf(place);
    if (said.has(kind)) return;
    said.add(kind);
    log.warn(nameOf(place), what);
  };

  function opened(setting: StoredSetting): string | null {
    // A value that was stored in the clear, before its key became a secret, has to be entered again.
    const text = secrets.isSealed(setting.value) ? secrets.open(kindOf(setting), setting.value) : undefined;
    if (text === undefined) complain(setting, 'a stored secret cannot be opened: it must be entered again');
    else said.delete(kindOf(setting));
    return text ?? null;
  }

  return {
    stored: (place, { secret }, value) =>
      secret ? secrets.seal(kindOf(place), value as string) : JSON.stringify(value),
    reveal(setting, { type, secret }) {
      if (secret) return opened(setting);
      if (secrets.isSealed(setting.value)) return null;
      const value = parsed(setting.value)?.value;
      return isOfType(value, type) ? value : null;
    },
    masked(setting, isSecret) {
      if (isSecret || secrets.isSealed(setting.value)) return { value: MASK };
      const read = parsed(setting.value);
      if (!read) complain(setting, 'a stored setting cannot be read and is left out');
      return read;
    },
  };
}

const nameOf = ({ extension, scope, scope_key, key }: Place): Place => ({ extension, scope, scope_key, key });

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
