import type { GuestRealm } from './isolate.ts';

/** Number of realms that are kept ready, since creating one takes about ten times as long as using it. */
export const SPARE_REALM_COUNT = 3;

export interface RealmProvider {
  take(): GuestRealm;
  /** Creates missing realms, one at a time, when the event loop is idle. */
  refill(): void;
}

/** A fresh realm for each invocation: starts with `first` and creates further realms by `make`. */
export function createFreshRealmProvider(first: GuestRealm, make: () => GuestRealm): RealmProvider {
  const ready: GuestRealm[] = [first];
  let planned = false;
  const refill = (): void => {
    if (planned || ready.length >= SPARE_REALM_COUNT) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      ready.push(make());
      refill();
    });
  };
  return { take: () => ready.shift() ?? make(), refill };
}

/** One realm for all invocations, until it is dropped. */
export function createSharedRealmProvider(first: GuestRealm, make: () => GuestRealm): RealmProvider & { drop(): void } {
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
