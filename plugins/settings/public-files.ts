import type { EventMeta } from '#kernel';
import type { Items } from '../items/contract.ts';
import { PUBLIC_FILES, type Settings } from './contract.ts';

const FILES = 'platform_files';

interface Deps {
  readonly items: Pick<Items, 'readOne'>;
  readonly settings: Settings;
}

/**
 * Everybody can see a file that these settings name, so a caller can name only files that the caller may read. The current values
 * may be sent back, and a nested create makes a file of the caller's.
 * @throws FORBIDDEN
 */
export async function assertPublicFilesReadable(
  { items, settings }: Deps,
  payload: unknown,
  { caller }: EventMeta,
): Promise<void> {
  if (caller.admin) return;
  const before = await settings.current();
  for (const name of PUBLIC_FILES) {
    const key = keyIn((payload as Record<string, unknown>)[name]);
    if (key === undefined || key === null || key === before[name]) continue;
    await items.readOne(caller, FILES, key, { fields: ['*'] });
  }
}

/** Of a key, or of an object that has one. */
const keyIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value;
