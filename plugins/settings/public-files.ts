import type { EventMeta } from '#kernel';
import type { Items } from '../items/contract.ts';
import { PUBLIC_FILES, type Settings } from './contract.ts';

const FILES = 'platform_files';

interface Deps {
  readonly items: Pick<Items, 'readOne'>;
  readonly settings: Settings;
}

/**
 * A file that is named here is shown to everybody, so nobody names one that is not shown to him: FORBIDDEN. What stands there
 * may be sent back, and a file that is made on the way is of whoever makes it.
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
