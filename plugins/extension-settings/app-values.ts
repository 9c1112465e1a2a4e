import { declaredIn } from './declaration.ts';
import type { Owners } from './owners.ts';
import type { Store } from './store.ts';
import type { SettingValue, Values } from './values.ts';

interface Deps {
  readonly owners: Pick<Owners, 'named'>;
  readonly store: Pick<Store, 'list'>;
  readonly values: Pick<Values, 'reveal'>;
}

/** What the app may know of a package's settings: never secrets, nothing whose type no longer fits. */
export async function readableByApp(
  { owners, store, values }: Deps,
  subject: string,
  collection: string | undefined,
): Promise<Readonly<Record<string, SettingValue>>> {
  const owner = owners.named(subject);
  if (!owner) return {};
  const rows = await store.list(subject, { scopeKeys: collection === undefined ? [''] : ['', collection] });
  const readable = rows.flatMap((row): [string, SettingValue][] => {
    const declared = declaredIn(owner.declaration, row.key);
    if (!declared?.appReadable || declared.secret || row.scope !== declared.scope) return [];
    if (row.scope_key !== (declared.scope === 'global' ? '' : collection)) return [];
    const value = values.reveal(row, declared);
    return value === null ? [] : [[row.key, value]];
  });
  return Object.fromEntries(readable);
}
