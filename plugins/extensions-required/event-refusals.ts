import { type EventsApi, fail } from '#kernel';

/** Where it is not known what a package filters: every change of rows, of users' collections and of the service's own. */
const ALL_WRITES = ['*.create', '*.update', '*.delete'] as const;

/** Refuses events in the place of packages that are not loaded. */
export interface EventRefusals {
  /** Refuses these events from now on, and no others of the package; `null`: every change of rows. */
  set(name: string, filters: readonly string[] | null): void;
  clear(name: string): void;
  /** Packages of which something is or was refused. */
  names(): readonly string[];
}

interface RefusedEvents {
  /** Stays once it was there, before the package's own listeners: refuses while `isActive`, also where they are there and broken. */
  readonly permanent: Map<string, { isActive: boolean }>;
  /** Those of now. An emit under way keeps the listeners it began with: these refuse it even if the package is back meanwhile. */
  readonly current: Map<string, () => void>;
}

export function createEventRefusals(events: Pick<EventsApi, 'onFilter'>): EventRefusals {
  const byPackage = new Map<string, RefusedEvents>();
  const getRefusedEvents = (name: string): RefusedEvents => {
    const one = byPackage.get(name) ?? { permanent: new Map(), current: new Map() };
    byPackage.set(name, one);
    return one;
  };

  function set(name: string, filters: readonly string[]): void {
    const { permanent, current } = getRefusedEvents(name);
    const refusal = (event: string) =>
      fail('GUARD_NOT_LOADED', `${event} is refused: ${name} has to check it, and is not loaded`);
    for (const pattern of filters) {
      if (!permanent.has(pattern)) {
        const state = { isActive: true };
        permanent.set(pattern, state);
        events.onFilter(pattern, (_payload, { event }) => {
          if (state.isActive) throw refusal(event);
        });
      }
      if (current.has(pattern)) continue;
      current.set(
        pattern,
        events.onFilter(pattern, (_payload, { event }) => {
          throw refusal(event);
        }),
      );
    }
    for (const [pattern, off] of current) {
      if (filters.includes(pattern)) continue;
      off();
      current.delete(pattern);
    }
    for (const [pattern, state] of permanent) state.isActive = filters.includes(pattern);
  }

  return {
    set: (name, filters) => set(name, filters ?? ALL_WRITES),
    names: () => [...byPackage.keys()],
    clear: (name) => {
      if (byPackage.has(name)) set(name, []);
    },
  };
}
