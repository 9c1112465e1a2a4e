import { setTimeout as pause } from 'node:timers/promises';

/** Polls `look` until it returns a value other than false and undefined, for `limit` milliseconds at most. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limit = 30_000,
): Promise<T> {
  for (const end = Date.now() + limit; ; await pause(10)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`after ${limit} ms it is still not so: ${look}`);
  }
}
