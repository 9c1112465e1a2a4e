import type { Caller } from '#kernel';

/**
 * Callers in whose name an operation writes with `emitEvents` off, its default: flows do not listen to these writes, so that a flow does
 * not trigger itself. Each such write has a caller of its own, whose object all events of the write carry.
 */
export interface CallersWithoutListeners {
  add(caller: Caller): Caller;
  has(caller: Caller): boolean;
}

export function createCallersWithoutListeners(): CallersWithoutListeners {
  const known = new WeakSet<Caller>();
  return {
    add(caller) {
      known.add(caller);
      return caller;
    },
    has: (caller) => known.has(caller),
  };
}
