import type { Reading } from './rows.ts';

export interface Memory<T> {
  get(key: string): Promise<T>;
  forget(): void;
}

/**
 * Remembers what was read until told to forget. A reading that began before a change is never kept after it, and what a
 * transaction sees of its own uncommitted changes is given to nobody else.
 */
export function createMemory<T>(read: (key: string) => Promise<Reading<T>>, limit = 1000): Memory<T> {
  let known = new Map<string, Promise<T>>();
  let running = new Map<string, Promise<Reading<T>>>();

  async function load(key: string): Promise<T> {
    const mine = known;
    const others = running.get(key);
    const shared = await others?.catch(() => undefined);
    if (shared?.settled) return shared.value;
    const reading = read(key);
    const startedIn = running;
    if (!others) startedIn.set(key, reading);
    try {
      const { value, settled } = await reading;
      if (settled) {
        if (mine.size >= limit) mine.clear();
        mine.set(key, Promise.resolve(value));
      }
      return value;
    } finally {
      if (startedIn.get(key) === reading) startedIn.delete(key);
    }
  }

  return {
    get: (key) => known.get(key) ?? load(key),
    forget() {
      known = new Map();
      running = new Map();
    },
  };
}
