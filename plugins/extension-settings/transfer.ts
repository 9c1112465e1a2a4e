import { type Caller, fail } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { SecretCipher } from '../secrets/contract.ts';
import { EXTENSION_SETTINGS_TABLE } from './collections.ts';
import type { ExtensionSettingValue, ExtensionSettingValues } from './contract.ts';
import type { SettingsOwnerRegistry } from './owners.ts';
import { isSettingScope } from './parse-requests.ts';
import type { SettingStore } from './store.ts';
import { validateSettingWrite } from './validate-write.ts';
import { isOfSettingType, type SettingValueCodec } from './value-codec.ts';

type Deps = Parameters<typeof validateSettingWrite>[0] & {
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly db: Pick<Db, 'transaction'>;
  readonly owners: Pick<SettingsOwnerRegistry, 'findByName' | 'isSecret'>;
  readonly secrets: Pick<SecretCipher, 'isSealed' | 'available'>;
  readonly store: SettingStore;
  readonly values: SettingValueCodec;
};

/** Copies values between databases, without secrets. */
export function createExtensionSettingValues(deps: Deps): ExtensionSettingValues {
  const { activity, db, owners, secrets, store, values } = deps;

  async function list(): Promise<readonly ExtensionSettingValue[]> {
    return (await store.listAll()).flatMap((row) => {
      const { extension, scope, scope_key, key } = row;
      if (owners.isSecret(extension, key) || secrets.isSealed(row.value)) return [];
      const shown = values.mask(row, false);
      return shown ? [{ subject: extension, scope, scope_key, key, value: shown.value }] : [];
    });
  }

  /** The text to store. A package that this process does not know may be installed later: its code reads null for a wrong type. */
  async function serialize({ subject, value, ...place }: ExtensionSettingValue): Promise<string> {
    const location = { extension: subject, ...place };
    if (owners.findByName(subject)) {
      const { declared, value: valid } = await validateSettingWrite(deps, location, value);
      if (declared.secret) throw fail('INVALID_PAYLOAD', `The setting "${place.key}" of "${subject}" is a secret.`);
      return values.serialize(location, declared, valid);
    }
    const isScalar = (['string', 'number', 'boolean'] as const).some((type) => isOfSettingType(value, type));
    if (!isScalar || !isSettingScope(place.scope))
      throw fail('INVALID_PAYLOAD', `The setting "${place.key}" of "${subject}" has a wrong scope or value.`);
    return JSON.stringify(value);
  }

  async function put(caller: Caller, setting: ExtensionSettingValue): Promise<void> {
    const { subject: extension, scope, scope_key, key } = setting;
    const location = { extension, scope, scope_key, key };
    const value = await serialize(setting);
    const stored = await store.find(location);
    if (stored !== undefined && secrets.isSealed(stored))
      throw fail('INVALID_PAYLOAD', `The setting "${key}" of "${extension}" is a secret.`);
    await db.transaction(async () => {
      await store.put({ ...location, value });
      const item = [extension, scope_key, key].filter((part) => part !== '').join('/');
      await activity.record(caller, { action: 'update', collection: EXTENSION_SETTINGS_TABLE, item });
    });
  }

  return { list, put };
}
