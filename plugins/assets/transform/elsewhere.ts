import type { Bus } from '../../cluster/contract.ts';

const MADE = 'assets.made';

/** What other processes have made, as they say it. */
export interface Elsewhere {
  announce(object: string): Promise<void>;
  /** Until it is said of this object, or at most so many milliseconds: messages may be missed. */
  heard(object: string, longest: number): Promise<void>;
}

export function createElsewhere(bus: Bus): Elsewhere {
  const waiting = new Map<string, Set<() => void>>();
  bus.subscribe(MADE, (object) => {
    for (const wake of waiting.get(object as string) ?? []) wake();
  });

  return {
    announce: (object) => bus.publish(MADE, object),
    async heard(object, longest) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const all = waiting.get(object) ?? new Set();
      waiting.set(object, all.add(resolve));
      const timer = setTimeout(resolve, longest);
      await promise;
      clearTimeout(timer);
      all.delete(resolve);
      if (all.size === 0) waiting.delete(object);
    },
  };
}
