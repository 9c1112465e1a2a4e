import { setTimeout as pause } from 'node:timers/promises';

/** Waits for what `look` answers other than false and undefined, and asks again and again, at most `limit` milliseconds. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limit = 30_000,
): Promise<T> {
  for (const end = Date.now() + limit; ; await pause(20)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`after ${limit} ms it is still not so: ${look}`);
  }
}
