import { type EventsApi, fail } from '#kernel';

/** The events that are refused if a package's filters are not known: every change of rows. */
const ALL_WRITES = ['*.create', '*.update', '*.delete'] as const;

/** Refuses the events that packages filter while they are not loaded. */
export interface EventRefusals {
  /** Refuses exactly these events for the package; `null` refuses every change of rows. */
  set(name: string, filters: readonly string[] | null): void;
  clear(name: string): void;
  /** Names of packages for which events are or were refused. */
  names(): readonly string[];
}

interface RefusedEvents {
  /**
   * Refusing listeners that stay registered before the package's own listeners. They refuse while `isActive`, also if the
   * package's listeners are registered and broken.
   */
  readonly permanent: Map<string, { isActive: boolean }>;
  /**
   * Refusing listeners that are registered only while the event is refused. An emit that has begun keeps its listeners, so these
   * refuse it even if the package is loaded meanwhile.
   */
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
