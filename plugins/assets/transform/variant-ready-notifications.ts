import type { InterProcessBus } from '../../cluster/contract.ts';

const CHANNEL = 'assets.made';

/** Notifications between processes about finished images. */
export interface VariantReadyNotifications {
  /** Notifies all processes that the image is stored. */
  announce(object: string): Promise<void>;
  /** Waits for the notification about this object, at most `timeout` milliseconds: messages may be lost. */
  waitFor(object: string, longest: number): Promise<void>;
}

export function createVariantReadyNotifications(bus: InterProcessBus): VariantReadyNotifications {
  const waiting = new Map<string, Set<() => void>>();
  bus.subscribe(CHANNEL, (object) => {
    for (const wake of waiting.get(object as string) ?? []) wake();
  });

  return {
    announce: (object) => bus.publish(CHANNEL, object),
    async waitFor(object, timeout) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiters = waiting.get(object) ?? new Set();
      waiting.set(object, waiters.add(resolve));
      const timer = setTimeout(resolve, timeout);
      await promise;
      clearTimeout(timer);
      waiters.delete(resolve);
      if (waiters.size === 0) waiting.delete(object);
    },
  };
}
