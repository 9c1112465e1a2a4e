import type { EventMeta } from '#kernel';
import type { ItemsEngine } from '../items/contract.ts';
import { PUBLIC_FILE_SETTINGS, type SettingsService } from './contract.ts';

const FILES = 'platform_files';

interface Deps {
  readonly items: Pick<ItemsEngine, 'readOne'>;
  readonly settings: SettingsService;
}

/**
 * Every visitor can see a file that these settings name, so a caller can name only files that the caller may read. A payload may
 * repeat the current values, and a nested create makes a file of the caller.
 * @throws FORBIDDEN
 */
export async function assertSettingsFilesReadable(
  { items, settings }: Deps,
  payload: unknown,
  { caller }: EventMeta,
): Promise<void> {
  if (caller.admin) return;
  const before = await settings.current();
  for (const name of PUBLIC_FILE_SETTINGS) {
    const key = keyIn((payload as Record<string, unknown>)[name]);
    if (key === undefined || key === null || key === before[name]) continue;
    await items.readOne(caller, FILES, key, { fields: ['*'] });
  }
}

/** The key of a file: the value itself, or the `id` of an object. */
const keyIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value;
