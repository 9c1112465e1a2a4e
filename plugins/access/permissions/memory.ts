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

  /** Joins whoever reads already, unless what he gets is for himself only or his transaction is broken. */
  async function join(key: string, reading: Promise<Reading<T>>): Promise<T> {
    const shared = await reading.catch(() => undefined);
    return shared?.settled ? shared.value : load(key);
  }

  async function load(key: string): Promise<T> {
    const [keeps, runs] = [known, running];
    const reading = read(key);
    runs.set(key, reading);
    try {
      const { value, settled } = await reading;
      if (settled) {
        if (keeps.size >= limit) keeps.clear();
        keeps.set(key, Promise.resolve(value));
      }
      return value;
    } finally {
      if (runs.get(key) === reading) runs.delete(key);
    }
  }

  return {
    get(key) {
      const kept = known.get(key);
      if (kept) return kept;
      const others = running.get(key);
      return others ? join(key, others) : load(key);
    },
    forget() {
      known = new Map();
      running = new Map();
    },
  };
}
