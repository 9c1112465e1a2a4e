import { type EventsApi, fail } from '#kernel';

/** Where it is not known what a package filters: every change of rows, of users' collections and of the service's own. */
const ALL_WRITES = ['*.create', '*.update', '*.delete'] as const;

/** Refuses events in the place of packages that are not loaded. */
export interface Refusals {
  /** Refuses these events from now on, and no others of the package; `null`: every change of rows. */
  set(name: string, filters: readonly string[] | null): void;
  clear(name: string): void;
  /** Packages of which something is or was refused. */
  names(): readonly string[];
}

interface Held {
  /** Stays once it was there, before the package's own listeners: refuses while `isActive`, also where they are there and broken. */
  readonly first: Map<string, { isActive: boolean }>;
  /** Those of now. An emit under way keeps the listeners it began with: these refuse it even if the package is back meanwhile. */
  readonly now: Map<string, () => void>;
}

export function createRefusals(events: Pick<EventsApi, 'onFilter'>): Refusals {
  const held = new Map<string, Held>();
  const heldOf = (name: string): Held => {
    const one = held.get(name) ?? { first: new Map(), now: new Map() };
    held.set(name, one);
    return one;
  };

  function set(name: string, filters: readonly string[]): void {
    const { first, now } = heldOf(name);
    const refusal = (event: string) =>
      fail('GUARD_NOT_LOADED', `${event} is refused: ${name} has to check it, and is not loaded`);
    for (const pattern of filters) {
      if (!first.has(pattern)) {
        const state = { isActive: true };
        first.set(pattern, state);
        events.onFilter(pattern, (_payload, { event }) => {
          if (state.isActive) throw refusal(event);
        });
      }
      if (now.has(pattern)) continue;
      now.set(
        pattern,
        events.onFilter(pattern, (_payload, { event }) => {
          throw refusal(event);
        }),
      );
    }
    for (const [pattern, off] of now) {
      if (filters.includes(pattern)) continue;
      off();
      now.delete(pattern);
    }
    for (const [pattern, state] of first) state.isActive = filters.includes(pattern);
  }

  return {
    set: (name, filters) => set(name, filters ?? ALL_WRITES),
    names: () => [...held.keys()],
    clear: (name) => {
      if (held.has(name)) set(name, []);
    },
  };
}
