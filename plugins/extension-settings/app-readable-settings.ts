import { findSettingDeclaration } from './declaration.ts';
import type { SettingsOwnerRegistry } from './owners.ts';
import type { SettingStore } from './store.ts';
import type { SettingValue, SettingValueCodec } from './value-codec.ts';

interface Deps {
  readonly owners: Pick<SettingsOwnerRegistry, 'findByName'>;
  readonly store: Pick<SettingStore, 'list'>;
  readonly values: Pick<SettingValueCodec, 'reveal'>;
}

/** The settings that a package's browser code may read: no secrets, no values of another type than declared. */
export async function readAppReadableSettings(
  { owners, store, values }: Deps,
  subject: string,
  collection: string | undefined,
): Promise<Readonly<Record<string, SettingValue>>> {
  const owner = owners.findByName(subject);
  if (!owner) return {};
  const rows = await store.list(subject, { scopeKeys: collection === undefined ? [''] : ['', collection] });
  const readable = rows.flatMap((row): [string, SettingValue][] => {
    const declared = findSettingDeclaration(owner.declaration, row.key);
    if (!declared?.appReadable || declared.secret || row.scope !== declared.scope) return [];
    if (row.scope_key !== (declared.scope === 'global' ? '' : collection)) return [];
    const value = values.reveal(row, declared);
    return value === null ? [] : [[row.key, value]];
  });
  return Object.fromEntries(readable);
}
