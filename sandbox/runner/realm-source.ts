import type { GuestRealm } from './isolate.ts';

/** Rooms kept ready: making one takes about ten times as long as using it. */
export const SPARE_REALMS = 3;

export interface RealmSource {
  take(): GuestRealm;
  /** Makes up for what was taken, a room at a time, whenever there is nothing else to do. */
  refill(): void;
}

/** Begins with `first` and makes the others by `make`. */
export function createSpareRealms(first: GuestRealm, make: () => GuestRealm): RealmSource {
  const ready: GuestRealm[] = [first];
  let planned = false;
  const refill = (): void => {
    if (planned || ready.length >= SPARE_REALMS) return;
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
export function createSharedRealm(first: GuestRealm, make: () => GuestRealm): RealmSource & { drop(): void } {
  let shared: GuestRealm | undefined = first;
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
