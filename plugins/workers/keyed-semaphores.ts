import type { KeyedSemaphores, Semaphore, SemaphoreOptions } from './contract.ts';
import { createSemaphore } from './semaphore.ts';

/** Creates one semaphore for each key, with the same limits; a key without holders keeps no state. */
export function createKeyedSemaphores(options: SemaphoreOptions): KeyedSemaphores {
  const all = new Map<string, Semaphore>();
  return {
    async run(key, work, signal) {
      const one = all.get(key) ?? createSemaphore(options);
      all.set(key, one);
      try {
        return await one.run(work, signal);
      } finally {
        if (one.held === 0 && all.get(key) === one) all.delete(key);
      }
    },
    get size() {
      return all.size;
    },
  };
}
