import type { Room } from './isolate.ts';

/** Rooms kept ready: making one takes about ten times as long as using it. */
export const SPARES = 3;

export interface Spares {
  take(): Room;
  /** Makes up for what was taken, a room at a time, whenever there is nothing else to do. */
  refill(): void;
}

/** Begins with `first` and makes the others by `make`. */
export function makeSpares(first: Room, make: () => Room): Spares {
  const ready: Room[] = [first];
  let planned = false;
  const refill = (): void => {
    if (planned || ready.length >= SPARES) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      ready.push(make());
      refill();
    });
  };
  return { take: () => ready.shift() ?? make(), refill };
}

/** One room for all, until it has to be left. */
export function makeShared(first: Room, make: () => Room): Spares & { drop(): void } {
  let shared: Room | undefined = first;
  return {
    take() {
      shared ??= make();
      return shared;
    },
    drop() {
      shared = undefined;
    },
    refill() {},
  };
}
